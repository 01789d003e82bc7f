"""Avro as the JSON that SQL reads, and back, with a played registry."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from penstock.kafka.errors import BrokerUnavailable
from penstock.registry.registry import Registry, Unregistered
from penstock.sdk.errors import RetriableError, UserError
from penstock.sql.avro.columns import AvroTexts, AvroWriters, register
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.avro.schemas import columns_of
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.catalog.source import Source
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.grammar.parser import parse
from penstock.sql.persistent.avro_stages import _AddTexts, _WriteAvro
from penstock.sql.persistent.connector import PersistentQueryConnector
from penstock.sql.persistent.table_reading import TableTopic
from penstock.sql.planning.decoding import KEY_TEXT, VALUE_TEXT
from penstock.sql.running.sinks import sink_keys
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.sources import CreateSource

URL = "sql.schema.registry.url"
COLUMNS = (
    "k VARCHAR KEY, i INT, l BIGINT, d DOUBLE, b BOOLEAN, c DECIMAL(9, 2), at TIMESTAMP, day DATE, "
    "a ARRAY<INT>, m MAP<VARCHAR, BIGINT>, s STRUCT<x INT, y STRUCT<z VARCHAR>>, raw BYTES"
)
ROW = {
    "I": 1,
    "L": 9007199254740993,
    "D": 1.5,
    "B": True,
    "C": 12.5,
    "AT": 1700000000123,
    "DAY": 19000,
    "A": [1, None],
    "M": {"p": 7},
    "S": {"X": 3, "Y": {"Z": "é"}},
    "RAW": "aGk=",
}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    """Schemas by their ids."""
    texts: dict[int, str] = {}

    def add(_: Registry, subject: str, kind: str, text: str, *, normalize: bool) -> int:
        assert kind == "AVRO"
        if text not in texts.values():
            texts[len(texts) + 1] = text
        return next(number for number, each in texts.items() if each == text)

    def schema(_: Registry, number: int) -> tuple[str, str]:
        if number not in texts:
            raise Unregistered("unknown")
        return "AVRO", texts[number]

    monkeypatch.setattr(Registry, "register", add)
    monkeypatch.setattr(Registry, "schema", schema)
    return texts


@pytest.fixture
def registry() -> SqlRegistry:
    return SqlRegistry.of({URL: "http://registry:8081", "other": "x"})


def source(columns: str = COLUMNS) -> Source:
    statement = parse(f"CREATE STREAM s ({columns}) WITH (KAFKA_TOPIC='t')")
    assert isinstance(statement, CreateSource)
    return Source(SourceKind.STREAM, "S", "t", statement.columns, "AVRO", "AVRO")


def binary(*values: bytes | None) -> pa.Array:
    return pa.array(values, pa.binary())


def read(registry: SqlRegistry, data: pa.Array, *, is_key: bool = False) -> list[Any]:
    texts = AvroTexts(registry, is_key).read(data).to_pylist()
    return [None if text is None else json.loads(text) for text in texts]


@pytest.mark.usefixtures("registered")
def test_rows_of_every_type_there_and_back(registry: SqlRegistry) -> None:
    writers = AvroWriters(registry, source())
    nothing = dict.fromkeys(ROW)
    written = binary(writers.values.one(ROW), None, writers.values.one(nothing))
    assert read(registry, written) == [ROW, None, nothing]
    again = writers.values.write(binary(json.dumps(ROW).encode(), None))
    assert read(registry, again) == [ROW, None], "and of the JSON that a turn has written"
    assert read(registry, binary(writers.keys.one("a")), is_key=True) == ["a"]
    assert pickle.loads(pickle.dumps(writers.values)) == writers.values  # noqa: S301 (just made)


def test_schemas_are_those_of_ksqldb_and_tell_the_columns(
    registry: SqlRegistry, registered: dict[int, str]
) -> None:
    register(registry, source())
    value, key = (json.loads(text) for text in registered.values())
    assert f"{value['namespace']}.{value['name']}" == (
        "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
    )
    assert value["fields"][0] == {"name": "I", "type": ["null", "int"], "default": None}
    assert key == "string"
    told = ", ".join(f"{c.name} {c.type}" for c in columns_of(registered[1]))
    assert told == ", ".join(f"{c.name} {c.type}" for c in source().values)
    assert columns_of(registered[2]) == ()
    register(registry, source("a INT KEY, b VARCHAR KEY, n INT"))
    assert [c.name for c in columns_of(registered[4])] == ["A", "B"]


@pytest.mark.usefixtures("registered")
def test_what_cannot_be_read_is_null_and_the_rest_is_read(registry: SqlRegistry) -> None:
    good = AvroWriters(registry, source("k INT KEY, n INT")).values.one({"N": 1})
    unknown, plain, short = b"\x00\x00\x00\x00\x63\x02", b'{"N": 2}', b"\x00"
    assert read(registry, binary(good, unknown, plain, short, None, good)) == [
        {"N": 1},
        None,
        None,
        None,
        None,
        {"N": 1},
    ]


@pytest.mark.parametrize(
    ("raised", "becomes"),
    [(RetriableError("silent"), BrokerUnavailable), (UserError("refused"), UserError)],
)
def test_a_registry_that_does_not_answer_is_no_bad_record(
    registry: SqlRegistry,
    monkeypatch: pytest.MonkeyPatch,
    raised: Exception,
    becomes: type[Exception],
) -> None:
    def silent(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(Registry, "schema", silent)
    monkeypatch.setattr(Registry, "register", silent)
    with pytest.raises(becomes, match=str(raised)):
        read(registry, binary(b"\x00\x00\x00\x00\x01x"))
    with pytest.raises(becomes, match=str(raised)):
        AvroWriters(registry, source()).values.one(ROW)


@pytest.mark.usefixtures("registered")
def test_the_stages_leave_other_records_as_they_are(registry: SqlRegistry) -> None:
    writers = AvroWriters(registry, source("k VARCHAR KEY, n INT"))
    stage = _WriteAvro("t", writers.keys, writers.values, window_bytes=8)
    batch = pa.RecordBatch.from_pydict(
        {
            "topic": ["t", "state", "t", "t"],
            "key": binary(b'"a"\0\0\0\0\0\0\0\x05', b"s", b"\x00bad", b'"b"\0\0\0\0\0\0\0\x05'),
            "value": binary(b'{"N": 1}', b"kept", b"no Avro", None),
            "error": pa.array([None, None, "wrong", None], pa.string()),
        }
    )
    (out,) = stage([batch])
    assert out.column("key")[1:3].to_pylist() == [b"s", b"\x00bad"]
    assert out.column("value")[1:].to_pylist() == [b"kept", b"no Avro", None]
    back = _AddTexts((KEY_TEXT, VALUE_TEXT), registry, window_bytes=8)
    (texts,) = back([out.select(["key", "value"]).slice(0, 1)])
    assert texts.column(KEY_TEXT).to_pylist() == [b'"a"']
    assert [json.loads(text) for text in texts.column(VALUE_TEXT).to_pylist()] == [{"N": 1}]


@pytest.mark.usefixtures("registered")
def test_a_joined_table_is_kept_as_json(registry: SqlRegistry) -> None:
    writers = AvroWriters(registry, source("k VARCHAR KEY, n INT"))
    topic = TableTopic(None, "t", True, True, registry, (True, True))  # type: ignore[arg-type] # reads nothing
    batch = pa.RecordBatch.from_pydict(
        {
            "key": binary(writers.keys.one("a"), writers.keys.one("b"), None),
            "value": binary(writers.values.one({"N": 1}), b'{"N": 2}', None),
        }
    )
    made = topic._in_json(batch)
    assert made.column("key").to_pylist() == [b'"a"', b'"b"', None]
    values = made.column("value").to_pylist()
    assert [topic._readable(value) for value in values] == [True, False, True]
    assert json.loads(values[0]) == {"N": 1}


def test_without_a_registry_it_is_said_which_key_to_set() -> None:
    writers = AvroWriters(NO_REGISTRY, source())
    for ask in (lambda: writers.values.one(ROW), lambda: register(NO_REGISTRY, source())):
        with pytest.raises(StatementError, match=r"set sql\.schema\.registry\.url"):
            ask()
    register(NO_REGISTRY, source().in_json())


def test_what_avro_does_not_have(registry: SqlRegistry) -> None:
    with pytest.raises(NotSupportedYet, match="format AVRO with a column of type TIME"):
        register(registry, source("k INT KEY, t TIME"))
    with pytest.raises(StatementError, match="AVRO has no name a b"):
        register(registry, source("k INT KEY, `a b` INT"))


@pytest.mark.usefixtures("registered")
def test_a_row_that_does_not_fit(registry: SqlRegistry) -> None:
    with pytest.raises(StatementError, match="The row does not fit subject t-value"):
        AvroWriters(registry, source("k INT KEY, n INT")).values.one({"N": 1 << 40})


def test_a_worker_without_a_registry_refuses_the_query() -> None:
    text = "CREATE STREAM o AS SELECT k, i FROM s"
    query = PersistentQuery("Q", text, (source(),), source("k VARCHAR KEY, i INT"))
    config = query.connector_config(1)
    connector = PersistentQueryConnector()
    assert connector.validate({**config, URL: "http://registry:8081"}) == ()
    ((_, told),) = connector.validate(config)
    assert told.endswith(f"set {URL} in the worker's properties, and for `penstock sql` in the "
                         "file of --command-config.")  # fmt: skip
    assert URL in connector.worker_keys, "no connector's config can set it"


def test_a_sink_gets_the_registry_without_its_passwords() -> None:
    given = {
        URL: "http://registry:8081",
        "sql.basic.auth.credentials.source": "USER_INFO",
        "sql.basic.auth.user.info": "ann:hunter2",
    }
    keys = sink_keys(source(), SqlRegistry.of(given))
    assert keys["value.converter"] == "io.confluent.connect.avro.AvroConverter"
    assert keys["key.converter.schema.registry.url"] == "http://registry:8081"
    assert keys["value.converter.basic.auth.credentials.source"] == "USER_INFO"
    assert "hunter2" not in str(keys)
    assert "hunter2" not in repr(SqlRegistry.of(given))
