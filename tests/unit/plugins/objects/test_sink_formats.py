"""What objects hold, per format and compression, and that records can be restored from it."""

from __future__ import annotations

import base64
import csv
import datetime as dt
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.plugins.objects.sink_config import SUFFIXES, SinkSettings
from penstock.plugins.objects.sink_formats import format_maker
from penstock.plugins.objects.sink_json import instants
from penstock.sdk import RecordError, Schema, record_batch
from penstock.sdk.batches import HEADERS
from penstock.sdk.packing import column
from penstock.sdk.transformers.streams import decompressed

ALL = "key,value,offset,timestamp,headers"
TIMES = [1_700_000_000_123, 1_700_000_000_000]
GIVEN = [{"key": "h", "value": b"\xff"}, {"key": "n", "value": None}]


def settings(kind: str, **keys: str) -> SinkSettings:
    dotted = {key.replace("_", "."): text for key, text in keys.items()}
    plain = {"format.output.type": kind, "file.compression.type": "none"}
    return SinkSettings.of({**plain, "format.output.fields": ALL, **dotted})


def batch(value_schema: Schema | None, values: list[Any], first: int = 5) -> pa.RecordBatch:
    key, key_field = column("key", Schema.string(optional=True), ["a", None])
    value, value_field = column("value", value_schema, values)
    return record_batch(
        "t",
        value,
        key=key,
        key_field=key_field,
        value_field=value_field,
        partition=pa.array([0, 0], pa.int32()),
        timestamp=pa.array(TIMES, pa.int64()),
        headers=pa.array([GIVEN, None], HEADERS),
        offset=pa.array([first, first + 1], pa.int64()),
    )


def made(config: SinkSettings, *batches: pa.RecordBatch) -> bytes:
    file = io.BytesIO()
    writing = format_maker(config)(file, batches[0])
    for each in batches:
        assert writing.takes(each)
        assert writing.write(each) > 0
    writing.finish()
    return file.getvalue()


ENVELOPES = [
    {
        "key": "a",
        "value": {"n": 1},
        "offset": 5,
        "timestamp": "2023-11-14T22:13:20.123Z",
        "headers": [{"key": "h", "value": "/w=="}, {"key": "n", "value": None}],
    },
    {
        "key": None,
        "value": None,
        "offset": 6,
        "timestamp": "2023-11-14T22:13:20.000Z",
        "headers": None,
    },
]


@pytest.mark.parametrize("compression", list(SUFFIXES))
def test_json_lines(compression: str) -> None:
    config = settings("jsonl", file_compression_type=compression)
    content = made(config, batch(None, [{"n": 1}, None]))
    lines = decompressed(io.BytesIO(content), compression).read().splitlines()
    assert [json.loads(line) for line in lines] == ENVELOPES


@pytest.mark.parametrize("compression", list(SUFFIXES))
def test_a_megabyte_in_many_batches(compression: str) -> None:
    rows = [batch(None, [{"n": "x" * 5000}, [n]], first=2 * n) for n in range(100)]
    content = made(settings("jsonl", file_compression_type=compression), *rows)
    lines = decompressed(io.BytesIO(content), compression).read().splitlines()
    assert [json.loads(line)["offset"] for line in lines] == list(range(200))


def test_json_is_one_array() -> None:
    pair = batch(None, [{"n": 1}, None])
    assert json.loads(made(settings("json"), pair, pair)) == ENVELOPES * 2


def test_a_value_alone_keeps_its_text_and_stays_on_its_line() -> None:
    config = settings("jsonl", format_output_fields="value", format_output_envelope="false")
    pretty = pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{\n "n": 1e400\n}', "2"]))
    content = made(config, batch(None, [1, 2]).set_column(3, "value", pretty))
    assert content == b'{  "n": 1e400 }\n2\n'


STRUCT = Schema.struct(
    {
        "text": Schema.string(),
        "price": Schema.decimal(2),
        "day": Schema.date(),
        "at": Schema.timestamp(),
        "raw": Schema.bytes(optional=True),
        "tags": Schema.array(Schema.string()),
        "counts": Schema.map(Schema.string(), Schema.int32()),
        "inner": Schema.struct({"n": Schema.int16()}, optional=True),
    }
)
VALUE = {
    "text": 'ä"\n',
    "price": Decimal("1.50"),
    "day": dt.date(1970, 1, 11),
    "at": dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC),
    "raw": b"\x00\xff",
    "tags": ["x", "y"],
    "counts": {"a": 1},
    "inner": {"n": 3},
}


def test_structs_as_json() -> None:
    config = settings("jsonl", format_output_fields="value")
    line, _ = made(config, batch(STRUCT, [VALUE, {**VALUE, "inner": None}])).splitlines()
    assert json.loads(line, parse_float=Decimal) == {
        "value": {**VALUE, "day": 10, "at": 1000, "raw": "AP8="}
    }


def test_structs_as_avro_come_back_as_they_were() -> None:
    content = made(settings("avro"), batch(STRUCT, [VALUE, {**VALUE, "inner": None}]))
    rows: Any = list(fastavro.reader(io.BytesIO(content)))
    assert rows[0] == {
        "key": "a",
        "value": VALUE,
        "offset": 5,
        "timestamp": dt.datetime.fromtimestamp(TIMES[0] / 1000, dt.UTC),
        "headers": [{"key": "h", "value": b"\xff"}, {"key": "n", "value": None}],
    }
    assert (rows[1]["key"], rows[1]["headers"], rows[1]["value"]["inner"]) == (None, None, None)


def test_structs_as_parquet_come_back_as_they_were() -> None:
    content = made(settings("parquet"), batch(STRUCT, [VALUE, {**VALUE, "inner": None}]))
    rows = pq.read_table(io.BytesIO(content)).to_pylist(maps_as_pydicts="strict")
    assert rows[0]["value"] == VALUE
    assert rows[0]["headers"] == [{"key": "h", "value": b"\xff"}, {"key": "n", "value": None}]
    assert [round(row["timestamp"].timestamp() * 1000) for row in rows] == TIMES
    assert [row["offset"] for row in rows] == [5, 6]


@pytest.mark.parametrize("kind", ["avro", "parquet"])
def test_without_an_envelope_the_fields_of_the_value_are_the_columns(kind: str) -> None:
    config = settings(kind, format_output_fields="value", format_output_envelope="false")
    content = io.BytesIO(made(config, batch(STRUCT, [VALUE, VALUE])))
    first: Any = (
        next(iter(fastavro.reader(content)))
        if kind == "avro"
        else pq.read_table(content).to_pylist(maps_as_pydicts="strict")[0]
    )
    assert first == VALUE


@pytest.mark.parametrize("kind", ["avro", "parquet"])
def test_another_schema_needs_another_object(kind: str) -> None:
    first, other = batch(STRUCT, [VALUE, VALUE]), batch(Schema.string(), ["a", "b"])
    writing = format_maker(settings(kind))(io.BytesIO(), first)
    assert writing.takes(first)
    assert not writing.takes(other)


def test_what_avro_cannot_name_is_the_records_fault() -> None:
    odd = Schema.struct({"no-name": Schema.string()})
    with pytest.raises(RecordError, match="no-name is not a name in Avro"):
        made(settings("avro"), batch(odd, [{"no-name": "a"}] * 2))


def test_csv_in_base64_and_plain() -> None:
    pair = batch(Schema.string(optional=True), ['a,"b"', None])
    rows = list(csv.reader(made(settings("csv"), pair).decode().splitlines()))
    assert [base64.b64decode(text) for text in rows[0][:2]] == [b"a", b'a,"b"']
    assert rows[0][2:4] == ["5", "2023-11-14T22:13:20.123Z"]
    assert rows[0][4] == "aA==:/w==;bg=="
    assert rows[1] == ["", "", "6", "2023-11-14T22:13:20.000Z", ""]
    plain = settings("csv", format_output_fields_value_encoding="none")
    assert next(csv.reader(made(plain, pair).decode().splitlines()))[1] == 'a,"b"'


@given(st.lists(st.none() | st.integers(-(10**14), 10**14)), st.integers(0, 3))
def test_instants_are_written_as_iso_8601(millis: list[int | None], skip: int) -> None:
    column = pa.array(millis, pa.int64())[skip:]
    expected = pc.strftime(column.cast(pa.timestamp("ms", "UTC")), "%Y-%m-%dT%H:%M:%SZ")
    assert instants(column).to_pylist() == expected.to_pylist()
