"""JsonConverter: what Kafka Connect would write, and reading it back."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.json_text import FEW, string_texts
from penstock.sdk.errors import ConfigError, RecordError
from penstock.sdk.schema import (
    SCHEMALESS,
    Schema,
    SchemaType,
    from_field,
    is_schemaless,
    to_field,
)

PLAIN_JSON = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain'
    " additional fields. If you are trying to deserialize plain JSON data, set"
    " schemas.enable=false in your converter configuration."
)


def converter(**config: str) -> JsonConverter:
    made = JsonConverter()
    made.configure({k.replace("_", "."): v for k, v in config.items()}, is_key=False)
    return made


def encode(schema: Schema, *values: Any, **config: str) -> list[bytes | None]:
    field = to_field(schema, "value")
    encoded: list[bytes | None] = (
        converter(**config).encode(pa.array(values, field.type), field).to_pylist()
    )
    return encoded


def payload(schema: Schema, value: Any, **config: str) -> str:
    (text,) = encode(schema, value, schemas_enable="false", **config)
    assert text is not None
    return text.decode()


def decode(*records: bytes | None, **config: str) -> list[tuple[Schema | None, list[Any]]]:
    runs = converter(**config).decode(pa.array(records, pa.binary()))
    return [(from_field(r.field), r.array.to_pylist(maps_as_pydicts="strict")) for r in runs]


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        (Schema.int8(), -7, "-7"),
        (Schema.int64(), 2**63 - 1, "9223372036854775807"),
        (Schema.boolean(), True, "true"),
        (Schema.float64(), 1.0, "1.0"),
        (Schema.float64(), float("nan"), '"NaN"'),
        (Schema.float64(), float("-inf"), '"-Infinity"'),
        (Schema.float32(), 0.1, "0.1"),
        (Schema.string(), 'a"b\\c', '"a\\"b\\\\c"'),
        (Schema.string(), "a\tb\nc\rd", '"a\\tb\\nc\\rd"'),
        (Schema.string(), "\x01ä", '"\\u0001ä"'),
        (Schema.bytes(), b"\x00\xff", '"AP8="'),
        (Schema.decimal(2), Decimal("1.56"), '"AJw="'),
        (Schema.decimal(2), Decimal("-1.28"), '"gA=="'),
        (Schema.decimal(2), Decimal("0"), '"AA=="'),
        (Schema.date(), dt.date(1970, 1, 11), "10"),
        (Schema.time(), dt.time(0, 0, 1), "1000"),
        (Schema.timestamp(), dt.datetime(1970, 1, 1, 0, 0, 2, tzinfo=dt.UTC), "2000"),
        (Schema.array(Schema.int32(optional=True)), [1, None], "[1,null]"),
        (Schema.array(Schema.int32()), [], "[]"),
        (Schema.map(Schema.string(), Schema.int32()), {"a": 1, "b": 2}, '{"a":1,"b":2}'),
        (Schema.map(Schema.int32(), Schema.string()), {1: "a", 2: "b"}, '[[1,"a"],[2,"b"]]'),
        (Schema.struct({}), {}, "{}"),
        (
            Schema.struct({'a"b': Schema.int32(), "c": Schema.string(optional=True)}),
            {'a"b': 1},
            '{"a\\"b":1,"c":null}',
        ),
    ],
)
def test_payloads(schema: Schema, value: Any, text: str) -> None:
    assert payload(schema, value) == text


def test_numeric_decimals() -> None:
    assert payload(Schema.decimal(2), Decimal("1.56"), decimal_format="numeric") == "1.56"


def test_the_envelope_is_connects_own() -> None:
    schema = Schema.struct(
        {
            "id": Schema.int32(),
            "tags": Schema.array(Schema.string(), optional=True),
            "at": Schema.timestamp(),
            "m": Schema.map(Schema.string(), Schema.float64(), doc="why"),
            "f": Schema.float32(default=0.5),
        },
        name="com.acme.Row",
        version=3,
    )
    at = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    (text,) = encode(schema, {"id": 1, "tags": None, "at": at, "m": {"x": 1.5}, "f": None})
    assert text == (
        b'{"schema":{"type":"struct","fields":['
        b'{"type":"int32","optional":false,"field":"id"},'
        b'{"type":"array","items":{"type":"string","optional":false},"optional":true,"field":"tags"},'
        b'{"type":"int64","optional":false,"name":"org.apache.kafka.connect.data.Timestamp",'
        b'"version":1,"field":"at"},'
        b'{"type":"map","keys":{"type":"string","optional":false},'
        b'"values":{"type":"double","optional":false},"optional":false,"doc":"why","field":"m"},'
        b'{"type":"float","optional":false,"default":0.5,"field":"f"}],'
        b'"optional":false,"name":"com.acme.Row","version":3},'
        b'"payload":{"id":1,"tags":null,"at":0,"m":{"x":1.5},"f":0.5}}'
    )


def test_parameters_are_written() -> None:
    (text,) = encode(Schema.decimal(2), Decimal("1.56"))
    assert text == (
        b'{"schema":{"type":"bytes","optional":false,"name":"org.apache.kafka.connect.data.Decimal"'
        b',"version":1,"parameters":{"scale":"2"}},"payload":"AJw="}'
    )


def test_schemaless_values() -> None:
    array = pa.array(['{"a": 1}', None, '"x"'], SCHEMALESS.type)
    with_schemas = converter().encode(array, SCHEMALESS).to_pylist()
    assert with_schemas == [
        b'{"schema":null,"payload":{"a": 1}}',
        None,
        b'{"schema":null,"payload":"x"}',
    ]
    without = converter(schemas_enable="false").encode(array, SCHEMALESS).to_pylist()
    assert without == [b'{"a": 1}', None, b'"x"']


def test_a_required_field_may_not_be_null() -> None:
    schema = Schema.struct({"a": Schema.int32()})
    with pytest.raises(RecordError, match="null value for field that is required") as caught:
        encode(schema, None, {"a": 1}, {"a": None})
    assert caught.value.row == 2


def test_null_is_replaced_by_the_default_only_if_asked_to() -> None:
    schema = Schema.struct({"a": Schema.int32(optional=True, default=7)})
    assert payload(schema, {}) == '{"a":7}'
    assert payload(schema, {}, replace_null_with_default="false") == '{"a":null}'
    record = encode(schema, {"a": None}, replace_null_with_default="false")
    assert decode(*record) == [(schema, [{"a": 7}])]
    assert decode(*record, replace_null_with_default="false") == [(schema, [{"a": None}])]


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.timestamp("us"), dt.datetime(1970, 1, 1, 0, 0, 0, 1500), "1"),  # noqa: DTZ001 (no zone, on purpose)
        (pa.large_list(pa.int8()), [1], "[1]"),
        (pa.list_(pa.int8(), 2), [1, 2], "[1,2]"),
        (pa.dictionary(pa.int32(), pa.string()), "a", '"a"'),
        (pa.decimal128(10, 2), Decimal("1.56"), '"AJw="'),
        (pa.uint16(), 65535, "65535"),
        (pa.struct([("s", pa.large_string())]), {"s": "x"}, '{"s":"x"}'),
    ],
)
def test_plain_arrow_is_written_too(kind: pa.DataType, value: Any, text: str) -> None:
    made = converter(schemas_enable="false")
    encoded = made.encode(pa.array([value], kind), pa.field("value", kind))
    assert encoded.to_pylist() == [text.encode()]


def test_plain_json_is_kept_to_the_byte() -> None:
    made = converter(schemas_enable="false")
    raw = [b' {"a":  1.000000000000000000001}', None, b"null", b'"\\u00e4"']
    (run,) = made.decode(pa.array(raw, pa.binary()))
    assert is_schemaless(run.field)
    assert run.array.to_pylist() == [raw[0].decode() if raw[0] else None, None, None, '"\\u00e4"']


def test_plain_json_is_not_copied() -> None:
    data = pa.array([b'{"a":1}', b"2"])
    (run,) = converter(schemas_enable="false").decode(data)
    assert run.array.storage.buffers()[2].address == data.buffers()[2].address


@pytest.mark.parametrize("bad", [b"", b"plain text", b'{"a":', b"\xff", b"NaN"])
@pytest.mark.parametrize("schemas", ["true", "false"])
def test_what_is_not_json(bad: bytes, schemas: str) -> None:
    good = b'{"schema":null,"payload":1}'
    with pytest.raises(RecordError, match=r"is not JSON.*StringConverter") as caught:
        decode(good, None, bad, schemas_enable=schemas)
    assert caught.value.row == 2


@pytest.mark.parametrize(
    "bad",
    [
        b'{"a":1}',
        b"{}",
        b"[]",
        b"7",
        b'{"schema":null}',
        b'{"schema":null,"payload":1,"x":2}',
        b'{"schema": null, "payload": 1, "x": 2}',
        b'{"schema":null,"payload":1,"payload":2}',
    ],
)
def test_plain_json_where_an_envelope_is_due(bad: bytes) -> None:
    with pytest.raises(RecordError) as caught:
        decode(b'{"schema":null,"payload":1}', bad)
    assert str(caught.value) == PLAIN_JSON
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("{}", "Schema must contain 'type' field"),
        ("3", "Schema must contain 'type' field"),
        ('{"type":"int9"}', "Unknown schema type: int9"),
        ('{"type":"array"}', "Array schema did not specify the element type"),
        ('{"type":"map"}', "Map schema did not specify the key type"),
        ('{"type":"struct"}', 'Struct schema\'s "fields" argument is not an array.'),
        ('{"type":"struct","fields":[{}]}', "Struct schema's field name not specified properly"),
        ('{"type":"string","parameters":{"a":1}}', "Schema parameters must have string values."),
    ],
)
def test_bad_schemas(schema: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        decode(None, b'{"schema":' + schema.encode() + b',"payload":1}')
    assert str(caught.value) == message
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("int32", "null", "Invalid null value for required INT32 field"),
        ("int32", '"x"', "Invalid value for INT32 field: found a string"),
        ("int32", "1.5", "Invalid value for INT32 field: found a number with a fraction"),
        ("int32", "true", "Invalid value for INT32 field: found a boolean"),
        ("int32", "3000000000", "INT32: "),
        ("double", '"x"', "Invalid value for FLOAT64 field: found a string"),
        ("bytes", '"%"', "BYTES: "),
        ("string", "{}", "Invalid value for STRING field: found an object"),
    ],
)
def test_payloads_that_do_not_fit(kind: str, value: str, message: str) -> None:
    def record(schema: str, text: str) -> bytes:
        return f'{{"schema":{{"type":"{schema}"}},"payload":{text}}}'.encode()

    good = record("boolean", "true")
    with pytest.raises(RecordError) as caught:
        decode(good, good, record(kind, value))
    assert str(caught.value).startswith(message)
    assert caught.value.row == 2


def test_a_misfit_inside_a_struct_names_its_field() -> None:
    (good,) = encode(Schema.struct({"a": Schema.int32()}), {"a": 1})
    assert good is not None
    with pytest.raises(RecordError, match='field "a": Invalid null value') as caught:
        decode(good, good.replace(b'{"a":1}', b'{"b":1}'))
    assert caught.value.row == 1


def test_equal_schemas_form_one_run_and_nulls_join_it() -> None:
    text, number = Schema.string(), Schema.int64()
    (a,), (one,) = encode(text, "a"), encode(number, 1)
    other_spelling = b'{"payload": "b", "schema": {"optional": false, "type": "string"}} '
    schemaless = b'{"schema":null,"payload":[1.50]}'
    assert decode(None, a, None, other_spelling, one, None, schemaless, a) == [
        (text, [None, "a", None, "b"]),
        (number, [1, None]),
        (None, ["[1.50]"]),
        (text, ["a"]),
    ]


def test_nothing_but_tombstones() -> None:
    assert decode(None, None) == [(None, [None, None])]


def test_starts_of_runs() -> None:
    (a,), (one,) = encode(Schema.string(), "a"), encode(Schema.int64(), 1)
    runs = converter().decode(pa.array([a, one, one, a], pa.binary()))
    assert [run.start for run in runs] == [0, 1, 3]


def test_a_payload_cannot_pretend_to_be_two() -> None:
    first = b'{"schema":{"type":"string"},"payload":"x"}'
    second = b'{"schema":{"type":"string"},"payload":"x","payload2":"y"}'
    with pytest.raises(RecordError, match="may not contain additional fields"):
        decode(first, second)


def test_the_word_payload_inside_a_schema() -> None:
    inner = Schema.struct({"payload": Schema.string(), "schema": Schema.string()})
    schema = Schema.struct({"a": inner, "payload": Schema.int32()}, doc=',"payload":')
    value = {"a": {"payload": '{"schema":', "schema": "}"}, "payload": 1}
    assert decode(*encode(schema, value, value)) == [(schema, [value, value])]


def test_decimals_are_exact_in_either_form() -> None:
    exact = Decimal("1234567890123456789012345678.1234567891")
    schema = Schema.struct({"d": Schema.decimal(10), "x": Schema.float64()})
    value = {"d": exact, "x": 0.5}
    for form in ("BASE64", "NUMERIC"):
        assert decode(*encode(schema, value, decimal_format=form)) == [(schema, [value])]


def test_a_required_default_stands_in_at_the_top() -> None:
    schema = Schema.string(default="d")
    record = b'{"schema":{"type":"string","default":"d"},"payload":null}'
    assert decode(record, None) == [(schema, ["d", None])]


def test_many_schemas_do_not_pile_up() -> None:
    made = converter(schemas_cache_size="2")
    schemas = [Schema.string(name=str(n)) for n in range(20)]
    records = [record for schema in schemas for record in encode(schema, "x")]
    for _ in range(2):
        runs = made.decode(pa.array(records, pa.binary()))
        assert [from_field(run.field) for run in runs] == schemas


def test_a_wrong_decimal_format() -> None:
    with pytest.raises(ConfigError, match=r"case insensitive\): BASE64, NUMERIC"):
        converter(decimal_format="x")


# Round trip: any value of any schema.


def _midnight(milliseconds: int) -> dt.datetime:
    return dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=milliseconds)


texts = st.text(st.characters(codec="utf-8"), max_size=6)
LEAVES: list[tuple[Callable[..., Schema], st.SearchStrategy[Any]]] = [
    (Schema.int8, st.integers(-128, 127)),
    (Schema.int64, st.integers(-(2**63), 2**63 - 1)),
    (Schema.float32, st.floats(width=32, allow_nan=False)),
    (Schema.float64, st.floats(allow_nan=False)),
    (Schema.boolean, st.booleans()),
    (Schema.string, texts),
    (Schema.bytes, st.binary(max_size=6)),
    (Schema.date, st.dates()),
    (Schema.time, st.integers(0, 86_399_999).map(lambda ms: _midnight(ms).time())),
    (Schema.timestamp, st.integers(0, 10**13).map(_midnight)),
]
Typed = tuple[Schema, st.SearchStrategy[Any]]


@st.composite
def leaves(draw: st.DrawFn) -> Typed:
    make, values = draw(st.sampled_from(LEAVES))
    optional = draw(st.booleans())
    default = None if optional else draw(st.none() | values)
    return make(optional=optional, default=default), values | st.none() if optional else values


@st.composite
def decimals(draw: st.DrawFn) -> Typed:
    scale = draw(st.integers(0, 20))
    numbers = st.integers(-(10**37), 10**37)
    return Schema.decimal(scale), numbers.map(lambda n: Decimal(f"{n}E-{scale}"))


@st.composite
def containers(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    kind = draw(st.sampled_from([SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT]))
    if kind is SchemaType.ARRAY:
        schema, values = draw(inner)
        return Schema.array(schema), st.lists(values, max_size=3)
    if kind is SchemaType.MAP:
        schema, values = draw(inner)
        key, keys = draw(
            st.sampled_from([(Schema.string(), texts), (Schema.int64(), LEAVES[1][1])])
        )
        return Schema.map(key, schema), st.dictionaries(keys, values, max_size=3)
    fields = draw(st.dictionaries(texts, inner, max_size=3))
    return (
        Schema.struct({name: schema for name, (schema, _) in fields.items()}, optional=True),
        st.none() | st.fixed_dictionaries({name: values for name, (_, values) in fields.items()}),
    )


@st.composite
def columns(draw: st.DrawFn) -> tuple[Schema, list[Any]]:
    schema, values = draw(st.recursive(leaves() | decimals(), containers, max_leaves=5))
    return schema, draw(st.lists(st.none() | values, min_size=1, max_size=4))


@settings(max_examples=100)
@given(columns(), st.sampled_from(["BASE64", "NUMERIC"]), st.integers(0, 2))
def test_round_trip(column: tuple[Schema, list[Any]], decimal_format: str, skip: int) -> None:
    schema, values = column
    field = to_field(schema, "value")
    array = pa.array([None] * skip + values, field.type).slice(skip)
    made = converter(decimal_format=decimal_format)
    encoded = made.encode(array, field)
    for record in encoded.to_pylist():
        assert record is None or orjson.loads(record).keys() == {"schema", "payload"}
    (run,) = made.decode(encoded)
    run.array.validate(full=True)
    assert run.array.to_pylist() == array.to_pylist()
    if array.null_count < len(array):
        assert from_field(run.field) == schema
        assert run.array.type == field.type


AWKWARD = [
    "", "plain", 'a "quoted" one', "back\\slash", "größe", "\U0001f600", "\u2028", "\x7f",
    "\t tab", "\r\n", "\b\f", "\x00\x1f", None,
]  # fmt: skip


def test_few_texts_are_written_as_many_are() -> None:
    many = string_texts(pa.array(AWKWARD * FEW, pa.string())).to_pylist()
    for row, text in enumerate(AWKWARD):
        alone = string_texts(pa.array([text], pa.string())).to_pylist()
        assert alone == [many[row]]
        crowd = string_texts(pa.array([text] * (FEW + 1), pa.string())).to_pylist()
        assert crowd == alone * (FEW + 1)
