"""Transforms that are functions: what they get, what they may return, and what goes wrong."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from importlib.metadata import EntryPoint
from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.stage_error import StageError
from penstock.runtime import plugins
from penstock.runtime.plugins import Plugins
from penstock.sdk import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    RecordError,
    RetriableError,
    Schema,
    SourceRecord,
    Transform,
    TransformRecord,
    Type,
    batch_transform,
    pack,
    record_batch,
    record_transform,
)

ORDER = Schema.struct({
    "id": Schema.int32(),
    "price": Schema.decimal(2, optional=True),
    "at": Schema.timestamp(),
    "tags": Schema.map(Schema.string(), Schema.int64()),
})  # fmt: skip
AT = dt.datetime(2024, 2, 29, 12, 30, tzinfo=dt.UTC)
VALUE = {"id": 7, "price": Decimal("1.50"), "at": AT, "tags": {"a": 1}}


@batch_transform()
def dropping(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Leaves out what has no value."""
    return batch.filter(batch.column("value").is_valid())


@batch_transform(ConfigDef(ConfigKey("topic")))
def routed(batch: pa.RecordBatch, settings: Mapping[str, Any]) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in ("partition", "timestamp", "headers")}
    return record_batch(settings["topic"], batch.column("value"), **columns)


@record_transform(ConfigDef(ConfigKey("by", Type.INT, default=1)))
def raised(record: TransformRecord, settings: Mapping[str, Any]) -> TransformRecord | None:
    """Adds to a number; odd ones are dropped, 4 is bad, and 8 gets another schema."""
    if record.value is None or record.value % 2:
        return None
    if record.value == 4:
        raise ValueError("four")
    if record.value == 8:
        return replace(record, value="eight", value_schema=Schema.string())
    return replace(record, value=record.value + settings["by"])


SEEN: list[TransformRecord] = []


@record_transform()
def watching(record: TransformRecord) -> TransformRecord:
    SEEN.append(record)
    return record


@record_transform()
def wrong(record: TransformRecord) -> Any:
    return record.value


@record_transform()
def misfitting(record: TransformRecord) -> TransformRecord:
    return replace(record, value="text")


@record_transform()
def waiting(record: TransformRecord) -> TransformRecord:
    raise RetriableError("not yet")


def configured(cls: type[Transform], **config: str) -> Transform:
    made = cls()
    made.configure(config)
    copy: Transform = pickle.loads(pickle.dumps(made))  # noqa: S301 (our own)
    return copy


def numbers(*values: int | None) -> pa.RecordBatch:
    schema = Schema.int64(optional=True)
    (batch,) = pack([SourceRecord({}, {}, "t", value, schema) for value in values])
    return batch.records


def test_a_record_has_everything_and_stays_as_it_is() -> None:
    SEEN.clear()
    given = SourceRecord({}, {}, "t", VALUE, ORDER, {"k": [1]}, None, 3, 1_700_000_000_000,
                         [("n", 5), ("raw", b"\xff"), ("none", None)])  # fmt: skip
    plain = replace_all(given)
    (batch,) = pack([given, plain])
    offsets = pa.array([40, 42])
    whole = record_batch(
        batch.records.column("topic"),
        batch.records.column("value"),
        offset=offsets,
        value_field=batch.records.schema.field("value"),
        key_field=batch.records.schema.field("key"),
        **{
            name: batch.records.column(name)
            for name in ("key", "partition", "timestamp", "headers")
        },
    )
    assert configured(watching).apply(whole).equals(whole)
    first, second = SEEN
    assert (first.value, first.value_schema) == (VALUE, ORDER)
    assert (first.key, first.key_schema) == ({"k": [1]}, None)
    assert (first.partition, first.timestamp, first.offset) == (3, 1_700_000_000_000, 40)
    assert first.headers == (("n", b"5"), ("raw", b"\xff"), ("none", None))
    assert (second.value, second.key, second.headers, second.offset) == (None, None, (), 42)


def replace_all(record: SourceRecord) -> SourceRecord:
    """The same topic and schemas, and nothing in them."""
    return SourceRecord({}, {}, "t", None, record.value_schema)


def test_rows_are_changed_dropped_and_split_by_schema_in_order() -> None:
    key, value = StringConverter(), JsonConverter()
    key.configure({}, is_key=True)
    value.configure({"schemas.enable": "false"}, is_key=False)
    bad: list[tuple[Any, StageError]] = []
    pipeline = Pipeline(key, value, [Predicated(configured(raised, by="10"))])
    made = pipeline.encode(
        numbers(2, 3, 8, None, 4, 6), lambda batch, error: bad.append((batch, error))
    )
    assert [json.loads(each) for each in made.value.to_pylist()] == [12, "eight", 16]
    ((batch, error),) = bad
    assert batch.column("value")[error.row].as_py() == 4
    assert str(error) == "raised raised ValueError: four"
    assert (error.stage, error.step) == ("TRANSFORMATION", f"{__name__}.raised")


def test_alone_it_gives_one_batch() -> None:
    transform = configured(raised)
    assert transform.apply(numbers(2, 3, 6)).column("value").to_pylist() == [3, 7]
    assert transform.apply(numbers(3)).num_rows == 0
    with pytest.raises(RecordError, match="another schema") as refused:
        transform.apply(numbers(2, 1, 8))
    assert refused.value.row == 2


@pytest.mark.parametrize(
    ("cls", "why"),
    [(wrong, "returned int, and not a TransformRecord"), (misfitting, "str does not fit INT64")],
)
def test_what_a_function_may_not_return(cls: type[Transform], why: str) -> None:
    with pytest.raises(RecordError, match=why) as refused:
        configured(cls).apply(numbers(1, 2))
    assert refused.value.row == 0


def test_an_error_that_is_not_the_records_stays_what_it_is() -> None:
    with pytest.raises(RetriableError):
        configured(waiting).apply(numbers(1))


def test_functions_over_batches() -> None:
    assert configured(dropping).apply(numbers(1, None, 3)).column("value").to_pylist() == [1, 3]
    made = configured(routed, topic="elsewhere").apply(numbers(1))
    assert made.column("topic").to_pylist() == ["elsewhere"]
    with pytest.raises(ConfigError, match="topic"):
        configured(routed)


def test_they_are_plugins_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(group: str) -> list[EntryPoint]:
        found = {"Raised": f"{__name__}:raised", "Dropping": f"{__name__}:dropping"}
        if group != "penstock.transforms":
            return []
        return [EntryPoint(name, value, group) for name, value in found.items()]

    monkeypatch.setattr(plugins, "entry_points", points)
    known = Plugins()
    for name in ("raised", f"{__name__}.raised", "RAISED"):
        found = known.transform(name)
        assert found is not None
        assert found.cls is raised
        assert [key.name for key in found.cls.config_def] == ["by"]
    assert [p.type for p in known.listed(connectors_only=False)][:2] == ["transformation"] * 2
