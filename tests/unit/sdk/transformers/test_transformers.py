"""Every format: its records, skipping, damage with a position, and bounded memory."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any

import cramjam
import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk import (
    ConfigError,
    ObjectContext,
    ObjectError,
    RecordError,
    Schema,
    Transformer,
    decompressed,
    from_field,
    stream_of,
    transformer_class,
    transformer_names,
)

OBJECT = ObjectContext("folder/orders.x")
ROWS = [{"id": number, "name": f"naïve {number}"} for number in range(20)]
AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}],
}
STRUCT = Schema.struct({"id": Schema.int64(), "name": Schema.string(optional=True)})


def transformer(name: str, **config: str) -> Transformer:
    made = transformer_class(name)()
    made.configure({key.replace("_", "."): value for key, value in config.items()})
    return made


def in_avro(rows: list[Any], schema: Any = AVRO, codec: str = "null") -> bytes:
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), rows, codec=codec)
    return out.getvalue()


def in_parquet(rows: list[Any], **more: Any) -> bytes:
    out = io.BytesIO()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])
    pq.write_table(pa.Table.from_pylist(rows, schema), out, **more)
    return out.getvalue()


def in_csv(rows: list[Any]) -> bytes:
    lines = ["id,name", *(f'{row["id"]},"{row["name"]}"' for row in rows)]
    return "\r\n".join(lines).encode()


FORMATS: dict[str, tuple[bytes, list[Any], Schema | None]] = {
    "jsonl": ("\n\n".join(map(json.dumps, ROWS)).encode(), ROWS, None),
    "json": (json.dumps(ROWS, indent=1).encode(), ROWS, None),
    "text": (b"one\n\nthree", ["one", "", "three"], Schema.string()),
    "bytes": (bytes(range(250)) * 40, [], Schema.bytes()),
    "csv": (
        in_csv(ROWS),
        [{"id": str(row["id"]), "name": row["name"]} for row in ROWS],
        Schema.struct({"id": Schema.string(optional=True), "name": Schema.string(optional=True)}),
    ),
    "avro": (in_avro(ROWS), ROWS, Schema.struct(STRUCT.fields, name="shop.Order")),
    "parquet": (in_parquet(ROWS, row_group_size=7), ROWS, STRUCT),
}
_chunks = FORMATS["bytes"][0]
FORMATS["bytes"][1].extend(_chunks[at : at + 4096] for at in range(0, len(_chunks), 4096))


@pytest.fixture(params=sorted(FORMATS))
def form(request: pytest.FixtureRequest) -> Any:
    return request.param


class Trickle(io.RawIOBase):
    """Gives a few bytes at a time, and cannot be sought in: as a download may."""

    def __init__(self, data: bytes, most: int = 7) -> None:
        self.data, self.most, self.given = data, most, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = self.most if size < 0 else min(size, self.most)
        found = self.data[self.given : self.given + size]
        self.given += len(found)
        return found


def test_the_built_in_ones_are_found_by_name() -> None:
    assert set(FORMATS) <= set(transformer_names())
    with pytest.raises(ConfigError, match=r"Unknown input format xml: it must be one of .*jsonl"):
        transformer_class("xml")


def test_avro_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fastavro", None)
    monkeypatch.delitem(sys.modules, "penstock.sdk.transformers.avro_objects", raising=False)
    with pytest.raises(ConfigError, match=r'avro needs fastavro.*pip install "penstock\[avro\]"'):
        transformer_class("avro")


def test_records_with_key_schema_and_position(form: str) -> None:
    data, values, schema = FORMATS[form]
    found = list(transformer(form).records(io.BytesIO(data), OBJECT))
    assert [record.value.value for record in found] == values
    assert {record.value.schema for record in found} == {schema}
    assert {record.key for record in found} == {(Schema.bytes(optional=True), b"folder/orders.x")}
    assert [record.position for record in found] == list(range(1, len(values) + 1))


def test_columns_hold_the_same(form: str) -> None:
    data, values, schema = FORMATS[form]
    rows: list[Any] = []
    for columns in transformer(form).columns(io.BytesIO(data), OBJECT):
        assert from_field(columns.value_field) == schema
        assert columns.value.type == columns.value_field.type
        array = columns.value.storage if schema is None else columns.value
        texts = array.to_pylist()
        rows += map(json.loads, texts) if schema is None else texts
        assert columns.position == len(rows)
        batch = columns.record_batch("t", b"k")
        assert batch.column("key").to_pylist() == [b"k"] * batch.num_rows
    assert rows == values


@pytest.mark.parametrize("skip", [1, 2, 3, 7, 8, 19, 20, 25])
def test_what_was_delivered_is_skipped(form: str, skip: int) -> None:
    data, values, _ = FORMATS[form]
    found = list(transformer(form).records(io.BytesIO(data), OBJECT, skip))
    assert [record.value.value for record in found] == values[skip:]
    assert [record.position for record in found] == list(range(skip + 1, len(values) + 1))
    columns = list(transformer(form).columns(io.BytesIO(data), OBJECT, skip))
    assert sum(len(each.value) for each in columns) == len(values[skip:])


def test_a_stream_may_give_a_few_bytes_at_a_time(form: str) -> None:
    data, values, _ = FORMATS[form]
    stream: Any = Trickle(data)
    found = list(transformer(form).records(stream_of(iter(lambda: stream.read(7), b"")), OBJECT))
    assert [record.value.value for record in found] == values


def test_an_empty_object_has_no_records(form: str) -> None:
    empty = {"avro": in_avro([]), "parquet": in_parquet([]), "csv": b"id,name\n"}
    assert list(transformer(form).records(io.BytesIO(empty.get(form, b"")), OBJECT)) == []


def java_snappy(data: bytes) -> bytes:
    """As Java's SnappyOutputStream writes it."""
    out = [b"\x82SNAPPY\x00", (1).to_bytes(4, "big"), (1).to_bytes(4, "big")]
    for at in range(0, len(data), 1000):
        block = bytes(cramjam.snappy.compress_raw(data[at : at + 1000]))
        out += [len(block).to_bytes(4, "big"), block]
    return b"".join(out)


COMPRESS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": ("none", lambda data: data),
    "gzip": ("gzip", gzip.compress),
    "gzip of two members": (
        "gzip",
        lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]),
    ),
    "snappy": ("snappy", lambda data: bytes(cramjam.snappy.compress(data))),
    "snappy of Java": ("snappy", java_snappy),
    "zstd": ("zstd", lambda data: bytes(cramjam.zstd.compress(data))),
}


@pytest.mark.parametrize("how", sorted(COMPRESS))
def test_every_format_in_every_compression(form: str, how: str) -> None:
    data, values, _ = FORMATS[form]
    name, compress = COMPRESS[how]
    stream = decompressed(io.BytesIO(compress(data)), name)
    found = [record.value.value for record in transformer(form).records(stream, OBJECT)]
    assert found == values


@pytest.mark.parametrize("name", ["gzip", "snappy", "zstd"])
def test_an_empty_object_needs_no_compression(name: str) -> None:
    stream = decompressed(io.BytesIO(b""), name)
    assert list(transformer("text").records(stream, OBJECT)) == []


def test_an_unknown_compression_is_refused() -> None:
    with pytest.raises(ConfigError, match="lz4: it must be one of none, gzip, snappy, zstd"):
        decompressed(io.BytesIO(b""), "lz4")


LINES = b"".join(b"%d %d\n" % (number, hash(str(number))) for number in range(40_000))


@pytest.mark.parametrize("how", [how for how in sorted(COMPRESS) if how != "none"])
def test_compressed_data_that_is_cut_off_is_an_error_with_a_position(how: str) -> None:
    name, compress = COMPRESS[how]
    data = compress(LINES)
    for cut in (len(data) - 1, len(data) * 2 // 3, 5):
        stream = decompressed(io.BytesIO(data[:cut]), name)
        found: list[Any] = []
        with pytest.raises(ObjectError) as refused:
            found.extend(transformer("text").records(stream, OBJECT))
        assert f"folder/orders.x cannot be read beyond record {len(found)}:" in str(refused.value)
        assert refused.value.position == len(found)
        assert len(found) < 40_000


@pytest.mark.parametrize("name", ["gzip", "snappy", "zstd"])
def test_what_is_not_compressed_at_all(name: str) -> None:
    stream = decompressed(io.BytesIO(b"plain text, by mistake\n" * 100), name)
    with pytest.raises(ObjectError, match=f"beyond record 0: its {name} data is damaged"):
        list(transformer("text").records(stream, OBJECT))


@pytest.mark.parametrize("form", ["avro", "parquet"])
def test_a_damaged_container_is_an_error_with_a_position(form: str) -> None:
    many = [{"id": n, "name": "x" * 100} for n in range(5000)]
    data = in_avro(many) if form == "avro" else in_parquet(many)
    for broken in (data[:-1000], b"something else entirely", data[:3]):
        found: list[Any] = []
        with pytest.raises(ObjectError) as refused:
            found.extend(transformer(form).records(io.BytesIO(broken), OBJECT))
        assert f"folder/orders.x cannot be read beyond record {len(found)}:" in str(refused.value)


def cut_off(form: str) -> bytes:
    """The better part of an object with 3000 numbers."""
    rows = [{"id": n, "name": f"text {n}"} for n in range(3000)]
    if form == "avro":
        out = io.BytesIO()
        fastavro.writer(out, fastavro.parse_schema(AVRO), rows, sync_interval=1000)
        return out.getvalue()[: out.tell() * 2 // 3]
    if form == "csv":
        lines = b"".join(b"%d,text\n" % n for n in range(3000))
        return b"id,name\n" + lines[: len(lines) * 2 // 3] + b'\n"cut'
    lines = b",\n".join(b'{"id":%d}' % n for n in range(3000))
    return b"[\n" + lines + b"\n] and more"


def read_from(made: Transformer, stream: io.BytesIO, *, by_columns: bool) -> Iterator[Any]:
    if by_columns:
        for columns in made.columns(stream, OBJECT):
            yield from columns.value
    else:
        yield from made.records(stream, OBJECT)


@pytest.mark.parametrize("form", ["avro", "csv", "json"])
@pytest.mark.parametrize("by_columns", [True, False])
def test_what_is_before_the_damage_is_given(form: str, by_columns: bool) -> None:
    """All that can be read, however it is read: a dead letter stands for the rest alone."""
    stream, made = io.BytesIO(cut_off(form)), transformer(form)
    found: list[Any] = []
    with pytest.raises(ObjectError) as refused:
        found.extend(read_from(made, stream, by_columns=by_columns))
    assert refused.value.position == len(found)
    assert len(found) > 1000


@pytest.mark.parametrize("by_columns", [True, False])
def test_what_is_before_a_bad_record_is_given(by_columns: bool) -> None:
    data = b"a,b\n" + b"1,2\n" * 100 + b"3\n" + b"5,6\n"
    stream, made = io.BytesIO(data), transformer("csv")
    found: list[Any] = []
    with pytest.raises(RecordError) as refused:
        found.extend(read_from(made, stream, by_columns=by_columns))
    assert (len(found), refused.value.row) == (100, 101)


BAD: dict[str, tuple[bytes, list[Any], list[Any], int]] = {
    "jsonl": (b'{"a":1}\n{"a":\n[2]\n', ['{"a":'], [{"a": 1}, [2]], 2),
    "json": (b'[{"a":1},\n{"a":?},\n[2]\n]', ['{"a":?}'], [{"a": 1}, [2]], 2),
    "text": (b"one\n\xff\xfe\nthree\n", [b"\xff\xfe"], ["one", "three"], 2),
    "csv": (b"a,b\n1,2\n3\n4,\xff\n5,6\n", [b"3", b"4,\xff"], [("1", "2"), ("5", "6")], 2),
}


@pytest.mark.parametrize("form", sorted(BAD))
def test_a_bad_record_is_an_error_with_its_position(form: str) -> None:
    data, _, _, position = BAD[form]
    found: list[Any] = []
    with pytest.raises(RecordError, match=f"Record {position} of object folder/orders.x") as bad:
        found.extend(transformer(form).records(io.BytesIO(data), OBJECT))
    assert bad.value.row == position
    assert len(found) == 1


@pytest.mark.parametrize("form", sorted(BAD))
def test_reading_goes_on_behind_bad_records_where_they_are_taken(form: str) -> None:
    data, letters, good, _ = BAD[form]
    taken: list[tuple[int, bytes]] = []
    found = list(
        transformer(form).records(
            io.BytesIO(data), OBJECT, bad=lambda error, raw: taken.append((error.row, raw))
        )
    )
    values = [r.value.value for r in found]
    assert [tuple(v.values()) for v in values] == good if form == "csv" else values == good
    assert [raw for _, raw in taken] == [
        letter.encode() if isinstance(letter, str) else letter for letter in letters
    ]
    everything = sorted([row for row, _ in taken] + [record.position for record in found])
    assert everything == list(range(1, len(everything) + 1))
    again = list(transformer(form).records(io.BytesIO(data), OBJECT, skip=len(everything) - 1))
    assert [record.value for record in again] == [found[-1].value]


ARRAYS = [
    (b"", []),
    (b"[]", []),
    (b" [ ] \n", []),
    (b"[1,2,3]", [1, 2, 3]),
    (b"[1,2,\n3]", [1, 2, 3]),
    (b"[\n1,\n2\n]\n\n", [1, 2]),
    (b'["],",\n"[{",\n{"a":\n[1,\n2],\n"b":{}\n}]', ["],", "[{", {"a": [1, 2], "b": {}}]),
    (b'["\\"",\n"\\\\"]', ['"', "\\"]),
]


@pytest.mark.parametrize(("data", "values"), ARRAYS)
def test_arrays_in_any_layout(data: bytes, values: list[Any]) -> None:
    found = transformer("json").records(io.BytesIO(data), OBJECT)
    assert [record.value.value for record in found] == values


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a":1}', "beyond record 0: it is not a JSON array"),
        (b"[1,\n2,\n3", "beyond record 2: its array is cut off"),
        (b"[1,\n2],\n3", "there is something after its array"),
        (b"[1]\n2", "there is something after its array"),
    ],
)
def test_what_is_no_array(data: bytes, why: str) -> None:
    with pytest.raises(ObjectError, match=why):
        list(transformer("json").records(io.BytesIO(data), OBJECT))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'a,b\n1,"2', "not CSV"),
        (b'a\n"' + b"x\n" * 100_000, "not CSV"),
        (b"a,a\n1,2", "first row"),
    ],
)
def test_what_is_no_csv(data: bytes, why: str) -> None:
    with pytest.raises(ObjectError, match=why):
        list(transformer("csv").records(io.BytesIO(data), OBJECT))


def test_a_column_of_csv_may_be_long() -> None:
    long = b"x" * 300_000
    data = io.BytesIO(b"a,b\n1," + long + b"\n2,3\n")
    found = [r.value.value for r in transformer("csv").records(data, OBJECT)]
    assert found == [{"a": "1", "b": long.decode()}, {"a": "2", "b": "3"}]


def test_csv_without_a_header_and_with_another_delimiter() -> None:
    made = transformer("csv", csv_header="false", csv_delimiter=";")
    found = [r.value.value for r in made.records(io.BytesIO(b'1;"a\nb"\n2;c\n'), OBJECT)]
    assert found == [{"column1": "1", "column2": "a\nb"}, {"column1": "2", "column2": "c"}]
    with pytest.raises(ConfigError, match=r"csv\.delimiter"):
        transformer("csv", csv_delimiter="ab")


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)), st.integers(1, 20))
def test_lines_are_cut_alike_wherever_blocks_end(lines: list[bytes], block: int) -> None:
    from penstock.sdk.transformers.streams import line_blocks

    data = b"".join(line + b"\n" for line in lines)
    found = [line for part in line_blocks(io.BytesIO(data), block) for line in part]
    assert found == lines
    unended = [line for part in line_blocks(io.BytesIO(data[:-1]), block) for line in part]
    assert unended == (lines[:-1] if lines and not lines[-1] else lines)


def test_the_size_of_chunks_is_configured() -> None:
    made = transformer("bytes", transformer_max_buffer_size="3")
    found = [r.value.value for r in made.records(io.BytesIO(b"abcdefgh"), OBJECT)]
    assert found == [b"abc", b"def", b"gh"]


@pytest.mark.parametrize("codec", ["deflate", "snappy", "zstandard"])
def test_avro_with_its_own_compression(codec: str) -> None:
    data = in_avro(ROWS, codec=codec)
    assert [r.value.value for r in transformer("avro").records(io.BytesIO(data), OBJECT)] == ROWS


RICH = {
    "type": "record", "name": "Rich", "fields": [
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "other", "type": "Kind"},
        {"name": "sum", "type": {"type": "fixed", "name": "Sum", "size": 2}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
            "scale": 2}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "inner", "type": {"type": "array", "items": {"type": "record", "name": "Inner",
            "fields": [{"name": "which", "type": ["null", "int", "string"]}]}}},
    ],
}  # fmt: skip


def test_avros_types_fit_their_schema() -> None:
    import datetime as dt
    from decimal import Decimal

    row = {
        "kind": "A", "other": "B", "sum": b"ab", "price": Decimal("1.50"),
        "day": dt.date(2024, 2, 29), "at": dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        "tags": ["x"], "counts": {"a": 1}, "either": "s", "inner": [{"which": 3}, {"which": None}],
    }  # fmt: skip
    data = in_avro([row], RICH)
    (record,) = transformer("avro").records(io.BytesIO(data), OBJECT)
    expected = {**row, "either": {"string": "s"}, "inner": [{"which": {"int": 3}}, {"which": None}]}
    assert record.value.value == expected
    (columns,) = transformer("avro").columns(io.BytesIO(data), OBJECT)
    (found,) = columns.value.to_pylist(maps_as_pydicts="strict")
    assert found["either"] == {"int": None, "string": "s"}
    assert found["price"] == Decimal("1.50")
    schema = from_field(columns.value_field)
    assert schema is not None
    assert schema.fields["price"] == Schema.decimal(2)


def test_parquets_types_become_those_of_records() -> None:
    import datetime as dt

    at = dt.datetime(2024, 1, 1, 1, 2, 3, 456789, dt.UTC)
    table = pa.table({
        "at": pa.array([at], pa.timestamp("us", "UTC")),
        "text": pa.array(["x"], pa.large_string()),
        "kind": pa.array(["k"]).dictionary_encode(),
        "small": pa.array([200], pa.uint8()),
        "items": pa.array([[1]], pa.large_list(pa.int32())),
    })  # fmt: skip
    out = io.BytesIO()
    pq.write_table(table, out)
    (columns,) = transformer("parquet").columns(io.BytesIO(out.getvalue()), OBJECT)
    (found,) = columns.value.to_pylist()
    assert found == {
        "at": at.replace(microsecond=456000), "text": "x", "kind": "k", "small": 200, "items": [1],
    }  # fmt: skip


@pytest.mark.parametrize("by_columns", [True, False])
def test_parquet_that_records_cannot_hold_is_told_with_its_object(by_columns: bool) -> None:
    numbers = pa.array([1, 1 << 63], pa.uint64())
    for column in (numbers, pa.array([1], pa.duration("ms"))):
        out = io.BytesIO()
        pq.write_table(pa.table({"n": column}), out)
        made = transformer("parquet")
        read = made.columns if by_columns else made.records
        with pytest.raises(ObjectError, match="its rows cannot be records") as raised:
            list(read(io.BytesIO(out.getvalue()), OBJECT))
        assert (raised.value.position, OBJECT.name in str(raised.value)) == (0, True)


LINE = b'{"n":12345678,"text":"%s"}\n' % (b"x" * 970)


def large(form: str) -> Iterator[bytes]:
    """200 MB."""
    if form == "json":
        comma = LINE.rstrip() + b",\n"
        return chain([b"["], repeat(comma * 1000, 199), [comma * 999 + LINE, b"]"])
    if form == "avro":
        block = io.BytesIO()
        rows = [{"id": number, "name": "x" * 990} for number in range(1000)]
        fastavro.writer(block, fastavro.parse_schema(AVRO), rows, sync_interval=2_000_000)
        data = block.getvalue()
        begin = data.index(data[-16:]) + 16  # behind the header, which ends as a block does
        return chain([data], repeat(data[begin:], 199))
    line = LINE if form != "csv" else b"12345678,%s\n" % (b"x" * 990)
    return repeat(line * 1000, 200)


@pytest.mark.parametrize("form", ["jsonl", "text", "csv", "bytes", "json", "avro"])
def test_a_large_object_passes_in_bounded_memory(form: str) -> None:
    """200 MB here; nothing depends on how many there are."""
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    rows, most = 0, 0
    stream = stream_of(large(form))
    settings = {"csv": {"csv_header": "false"}, "bytes": {"transformer_max_buffer_size": "1000"}}
    for columns in transformer(form, **settings.get(form, {})).columns(stream, OBJECT):
        rows += len(columns.value)
        most = max(most, columns.value.nbytes, pool.bytes_allocated() - before)
    assert rows == 200_000 if form != "bytes" else rows == 200 * len(LINE)
    assert most < 16 << 20


def test_records_are_made_lazily() -> None:
    read: list[int] = []

    def chunks() -> Iterator[bytes]:
        while True:
            read.append(len(LINE))
            yield LINE

    next(transformer("jsonl").records(stream_of(chunks()), OBJECT))
    assert sum(read) < 4 << 20
