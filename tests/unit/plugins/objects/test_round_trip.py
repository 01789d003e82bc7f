"""Topic to objects to topic: what the object sink writes, the object source restores."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from object_sources import Objects
from penstock.plugins.objects.envelope_avro import AvroEnvelopes
from penstock.plugins.objects.envelope_csv import CsvEnvelopes
from penstock.plugins.objects.envelope_json import as_written, members
from penstock.plugins.objects.sink_config import SUFFIXES
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk import (
    Assignment,
    Assignments,
    ObjectContext,
    ObjectError,
    Schema,
    Transformer,
    record_batch,
)
from penstock.sdk.batches import HEADERS, SourceBatch
from penstock.sdk.packing import column
from penstock.sdk.schema import from_field
from penstock.sdk.testing import PlayedSource

FIELDS = "key,value,offset,timestamp,headers"
TEMPLATE = "{{topic}}/{{partition}}-{{start_offset}}"
FORMATS = ("jsonl", "json", "csv", "avro", "parquet")
WITH_SCHEMAS = ("avro", "parquet")
HEADS = [
    [{"key": "h", "value": b"\xff\x00"}, {"key": "h", "value": b""}],
    [{"key": "n", "value": None}],
    None,
]
TIMES = [1_700_000_000_123, 0, -1]


class Restoring(Objects):
    """What a sink has written, as a source."""

    def __init__(self, folder: Path, **more: str) -> None:
        super().__init__({"local.folder": str(folder)}, **more)
        del self._config["topic"]

    def number(self, value: Any) -> int:
        return 0


class Topic(PlayedSource):
    """Keeps the records that are delivered."""

    def __init__(self, source: Objects) -> None:
        super().__init__(source)
        self.batches: list[pa.RecordBatch] = []

    def commit(self, batches: Any) -> Any:
        kept: list[SourceBatch] = list(batches)
        self.batches += [batch.records for batch in kept if batch.records.num_rows]
        return super().commit(kept)


def batch(
    keys: tuple[Schema | None, list[Any]],
    values: tuple[Schema | None, list[Any]],
    partition: int = 3,
) -> pa.RecordBatch:
    key, key_field = column("key", *keys)
    value, value_field = column("value", *values)
    rows = len(value)
    return record_batch(
        "orders",
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=pa.array([partition] * rows, pa.int32()),
        timestamp=pa.array((TIMES * rows)[:rows], pa.int64()),
        headers=pa.array((HEADS * rows)[:rows], HEADERS),
        offset=pa.array(range(rows), pa.int64()),
    )


def write(folder: Path, config: Mapping[str, str], *batches: pa.RecordBatch) -> None:
    task = ObjectSinkTask()
    wanted = {"local.folder": str(folder), "file.name.template": TEMPLATE}
    task.start({**wanted, "format.output.fields": FIELDS, **config})
    try:
        where = {(b.column("topic")[0].as_py(), b.column("partition")[0].as_py()) for b in batches}
        task.open(Assignments([Assignment(*each, 0, "") for each in where], [], 1))
        for each in batches:
            task.put(each)
        task.may_hold = False
        while task._lanes and any(lane.growing or lane.sealed for lane in task._lanes.values()):
            task.flush()
    finally:
        task.stop()


def restored(folder: Path, **config: str) -> list[pa.RecordBatch]:
    dotted = {key.replace("_", "."): text for key, text in config.items()}
    wanted = {"input.envelope": "true", "file.name.template": TEMPLATE}
    topic = Topic(Restoring(folder, **{**wanted, **dotted}))
    topic.turn()
    return topic.batches


def rows_of(batches: list[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for each in batches for row in _rows(each)]


def _rows(each: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    names = ("topic", "partition", "key", "value", "timestamp", "headers")
    for row in each.select(names).to_pylist():
        yield {**row, "headers": row["headers"] or None}


Side = tuple[Schema | None, list[Any]]
KINDS: dict[str, tuple[str, Side, Side]] = {
    "json": (
        "auto",
        (None, ["k", {"a": 1}, None]),
        (None, [{"n": 1.5, "ä": ['"', None, True]}, None, "a\nb"]),
    ),
    "string": (
        "string",
        (Schema.string(optional=True), ["k", None, ""]),
        (Schema.string(optional=True), ['a,"b"\nc', "", None]),
    ),
    "bytes": (
        "bytes",
        (Schema.bytes(optional=True), [b"\xff\x00", b"", None]),
        (Schema.bytes(optional=True), [b"", None, b"\x00,\n\xfe"]),
    ),
}


@pytest.mark.parametrize(
    ("kind", "compression"),
    [*(("json", each) for each in SUFFIXES), ("string", "none"), ("bytes", "none")],
)
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_and_compression(
    form: str, kind: str, compression: str, tmp_path: Path
) -> None:
    said, keys, values = KINDS[kind]
    said = "json" if form == "csv" and kind == "json" else said
    written = [batch(keys, values, partition) for partition in (0, 3)]
    packing = {"file.compression.type": compression}
    write(tmp_path, {"format.output.type": form, **packing}, *written)
    outer = {} if form == "parquet" else packing
    found = restored(
        tmp_path,
        input_format=form,
        input_key_type=said,
        input_value_type=said,
        format_output_fields=FIELDS,
        **outer,
    )
    assert rows_of(found) == rows_of(written)
    if form in WITH_SCHEMAS:
        assert {from_field(b.schema.field("value")) for b in found} == {values[0]}
        assert {from_field(b.schema.field("key")) for b in found} == {keys[0]}


STRUCT = Schema.struct(
    {
        "text": Schema.string(doc="what it says"),
        "small": Schema.int8(),
        "price": Schema.decimal(2),
        "day": Schema.date(),
        "at": Schema.timestamp(optional=True),
        "clock": Schema.time(),
        "raw": Schema.bytes(optional=True),
        "tags": Schema.array(Schema.string()),
        "counts": Schema.map(Schema.string(), Schema.int32()),
        "inner": Schema.struct({"n": Schema.int16()}, optional=True, name="acme.Inner"),
    },
    name="acme.Order",
    version=3,
)
VALUE = {
    "text": 'ä"\n',
    "small": -3,
    "price": Decimal("1.50"),
    "day": dt.date(1970, 1, 11),
    "at": dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
    "clock": dt.time(1, 2, 3, 4000),
    "raw": b"\x00\xff",
    "tags": ["x", "y"],
    "counts": {"a": 1},
    "inner": {"n": 3},
}


@pytest.mark.parametrize("form", WITH_SCHEMAS)
def test_schemas_and_tombstones(form: str, tmp_path: Path) -> None:
    values = [VALUE, None, {**VALUE, "at": None, "raw": None, "inner": None}]
    written = batch((Schema.int16(), [1, 2, 3]), (STRUCT, values))
    plain = {"file.compression.type": "none"}
    write(tmp_path, {"format.output.type": form, **plain}, written)
    found = restored(tmp_path, input_format=form)
    assert rows_of(found) == rows_of([written])
    assert [from_field(each.schema.field("value")) for each in found] == [STRUCT]
    assert [from_field(each.schema.field("key")) for each in found] == [Schema.int16()]


CHANGING: list[tuple[Schema, dict[str, Any]]] = [
    (Schema.struct({"n": Schema.int16(), "text": Schema.string(optional=True)}, version=1),
     {"n": 1, "text": "a"}),
    (Schema.struct({"n": Schema.int16(), "text": Schema.string(optional=True),
                    "more": Schema.array(Schema.int32())}, version=2),
     {"n": 2, "text": None, "more": [1]}),
    (Schema.struct({"n": Schema.int64(), "text": Schema.string(optional=True)}, version=3),
     {"n": 1 << 40, "text": "c"}),
    (Schema.struct({"n": Schema.int64()}, version=4), {"n": 4}),
    (Schema.struct({"n": Schema.int16(), "text": Schema.string(optional=True)}, version=1),
     {"n": 5, "text": "e"}),
]  # fmt: skip
"""A field is added, widened and dropped, and then an old record comes late."""


@pytest.mark.parametrize("form", WITH_SCHEMAS)
def test_schemas_that_change_from_record_to_record(form: str, tmp_path: Path) -> None:
    written = []
    for offset, (schema, value) in enumerate(CHANGING):
        one = batch((Schema.int16(), [offset]), (schema, [value]))
        offsets = pa.array([offset], pa.int64())
        written.append(one.set_column(one.schema.get_field_index("offset"), "offset", offsets))
    plain = {"file.compression.type": "none"}
    write(tmp_path, {"format.output.type": form, **plain}, *written)
    found = restored(tmp_path, input_format=form)
    assert rows_of(found) == rows_of(written)
    schemas = [
        from_field(each.schema.field("value")) for each in found for _ in range(each.num_rows)
    ]
    assert schemas == [schema for schema, _ in CHANGING]


@pytest.mark.parametrize("form", FORMATS)
def test_records_without_keys_timestamps_and_headers(form: str, tmp_path: Path) -> None:
    written = batch((None, [None] * 3), (Schema.string(optional=True), ["a", "b", None]))
    plain = {"format.output.type": form, "file.compression.type": "none"}
    write(tmp_path, {**plain, "format.output.fields": "value"}, written)
    found = restored(tmp_path, input_format=form, input_value_type="string")
    assert [row["value"] for row in rows_of(found)] == ["a", "b", None]
    assert {(row["timestamp"], row["headers"]) for row in rows_of(found)} == {(None, None)}


def test_plain_csv(tmp_path: Path) -> None:
    text = Schema.string(optional=True)
    written = batch((text, ["a,b", None, '""']), (text, ["one\ntwo", "", None]))
    plain = {"file.compression.type": "none", "format.output.fields.value.encoding": "none"}
    write(tmp_path, {"format.output.type": "csv", **plain}, written)
    found = restored(
        tmp_path,
        input_format="csv",
        input_key_type="string",
        input_value_type="string",
        format_output_fields=FIELDS,
        format_output_fields_value_encoding="none",
    )
    assert rows_of(found) == rows_of([written])


def test_plain_csv_keeps_bytes_that_are_no_text(tmp_path: Path) -> None:
    kind = Schema.bytes(optional=True)
    rows = [b"\xff\xfe", None, b"", b'a,\xff\n"\r', bytes(range(256))]
    written = batch((kind, rows), (kind, rows))
    plain = {"file.compression.type": "none", "format.output.fields.value.encoding": "none"}
    write(tmp_path, {"format.output.type": "csv", **plain}, written)
    found = restored(
        tmp_path,
        input_format="csv",
        format_output_fields=FIELDS,
        format_output_fields_value_encoding="none",
    )
    assert rows_of(found) == rows_of([written])


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
FEW = settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)


@FEW
@given(values=st.lists(ANY_JSON, min_size=1, max_size=8), form=st.sampled_from(FORMATS))
def test_any_json(values: list[Any], form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("objects")
    written = batch((None, values[::-1]), (None, values))
    write(folder, {"format.output.type": form, "file.compression.type": "none"}, written)
    found = restored(
        folder,
        input_format=form,
        format_output_fields=FIELDS,
        input_key_type="json",
        input_value_type="json",
    )
    assert rows_of(found) == rows_of([written])


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    texts = ["1.10", "12345678901234567890123456789", '{ "n" : 1e3 }']
    value = pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts))
    written = batch((None, [None] * 3), (None, [1, 2, 3])).set_column(3, "value", value)
    write(tmp_path, {"format.output.type": "jsonl", "file.compression.type": "none"}, written)
    found = restored(tmp_path, input_format="jsonl")
    assert found[0].column("value").storage.to_pylist() == texts


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ('{"key":"k","value":{"n": 1.10},"headers":null}', ['"k"', '{"n": 1.10}', "null"]),
        ('{"value":2}', [None, "2", None]),
        ('{"key":"k"}', ['"k"', None, None]),
        ('{"key":1.0,"value":[1e2]}', ["1.0", "[1e2]", None]),
        ('{"key":1.10,"value":3}', ["1.10", "3", None]),
        (' { "key" : "k" , "value" : "v" } ', ['"k"', '"v"', None]),
        ('{"value":1,"headers":null,"headers":null}', [None, "1", "null"]),
        ('{"value":"a","key":"\\u0041"}', ['"\\u0041"', '"a"', None]),
    ],
)
def test_the_texts_of_an_envelope(line: str, texts: list[str | None]) -> None:
    """The quick way gives what the exact one gives, or nothing."""
    exact, quick = members(line), as_written(line.encode())
    assert [exact.get(name) for name in ("key", "value", "headers")] == texts
    assert quick in (None, exact)


def test_what_the_sink_writes_is_read_the_quick_way() -> None:
    line = '{"key":"k","value":{ "ä":1.10 },"timestamp":"2023-11-14T22:13:20.123Z","headers":[]}'
    assert as_written(line.encode()) == members(line)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"value":1,"other":2}', "its envelope has a field 'other'"),
        ("[1]", "it is not an envelope"),
        ('{"value":1', "Record 1 of object"),
        ('{"value":1} 2', "there is something after its envelope"),
        ('{"value" 1}', "it is not JSON"),
        ('{"value":NaN}', "NaN is not JSON"),
        ('{"value":1,"timestamp":"yesterday"}', "yesterday"),
        ('{"value":1,"timestamp":5}', "its timestamp is not ISO-8601 text"),
        ('{"value":1,"headers":{"a":1}}', "its headers are not a list"),
        ('{"value":1,"headers":[{"key":"a","value":"?"}]}', "Record 1 of object"),
    ],
)
def test_what_is_no_envelope(line: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "0-0").write_text(line + "\n")
    with pytest.raises(ObjectError, match="Record 1 of object orders/0-0") as wrong:
        restored(tmp_path, input_format="jsonl")
    assert why in str(wrong.value)


@pytest.mark.parametrize("form", WITH_SCHEMAS)
def test_a_file_without_envelopes(form: str, tmp_path: Path) -> None:
    alone = {"format.output.envelope": "false", "format.output.fields": "value"}
    plain = {"format.output.type": form, "file.compression.type": "none"}
    written = batch((None, [None]), (Schema.struct({"n": Schema.int32()}), [{"n": 1}]))
    write(tmp_path, {**plain, **alone}, written)
    with pytest.raises(ObjectError, match="it has no envelopes but a column 'n'"):
        restored(tmp_path, input_format=form)


@pytest.mark.parametrize(
    ("row", "why"),
    [("a,b", "it has 2 fields instead of 1"), ("?", "Record 1 of"), ('"YQ=="x', "it is not CSV")],
)
def test_a_row_that_is_not_as_the_sink_writes_it(row: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "0-0").write_text(row + "\n")
    with pytest.raises(ObjectError, match=why):
        restored(tmp_path, input_format="csv")


def test_formats_without_envelopes_are_refused(tmp_path: Path) -> None:
    source = Restoring(tmp_path, **{"input.envelope": "true", "input.format": "text"})
    config = {**source.config(), "topic": "t"}
    ((key, message),) = source.connector().validate(config)
    assert key == "input.envelope"
    assert "one of avro, csv, json, jsonl, parquet" in message


def test_what_is_before_the_damage_comes_back() -> None:
    avro = io.BytesIO()
    fields = [{"name": "value", "type": "string"}]
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": fields})
    rows = [{"value": f"text {n}"} for n in range(3000)]
    fastavro.writer(avro, schema, rows, sync_interval=1000)
    cut: list[tuple[Transformer, bytes]] = [
        (AvroEnvelopes(), avro.getvalue()[: avro.tell() * 2 // 3]),
        (CsvEnvelopes(), b"dGV4dA==\n" * 2000 + b'"dGV'),
    ]
    for made, data in cut:
        found = 0
        made.configure({"format.output.fields": "value"})
        columns = made.columns(io.BytesIO(data), ObjectContext("o"))
        with suppress(ObjectError):
            for part in columns:
                found = part.position
        assert found > 1500
