"""The datagen source: what it makes, how fast, and that it goes on where it stood."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from penstock.plugins.datagen.datagen_source import DatagenConnector
from penstock.plugins.datagen.datagen_task import DatagenTask
from penstock.plugins.datagen.pacing import Clock, Pacing
from penstock.plugins.datagen.pattern_texts import matching_texts
from penstock.sdk import ConfigError, OffsetError, OffsetReader, SourceBatch, from_field
from waiting import eventually

FAST = {"kafka.topic": "t", "max.interval": "0", "random.seed": "7"}
PAGEVIEWS = {**FAST, "quickstart": "PAGEVIEWS"}


def _task(config: Mapping[str, str], *offsets: Any) -> DatagenTask:
    task = DatagenTask()
    task.start(config, OffsetReader(offsets))
    return task


def _all(task: DatagenTask) -> tuple[list[Any], Any]:
    rows, offset = [], None
    while (batch := task.poll()) is not None:
        rows += batch.records.column("value").to_pylist()
        offset = batch.offsets[0]
    return rows, offset


def _one(config: Mapping[str, str]) -> SourceBatch:
    batch = _task(config).poll()
    assert batch is not None
    return batch


def test_pageviews_are_those_of_the_quickstart() -> None:
    batch = _one({**PAGEVIEWS, "iterations": "100"})
    rows = batch.records.column("value").to_pylist()
    assert [row["viewtime"] for row in rows[:3]] == [1, 11, 21]
    assert {row["userid"] for row in rows} == {f"User_{n}" for n in range(1, 10)}
    assert all(row["pageid"].startswith("Page_") for row in rows)
    assert batch.records.column("key").to_pylist() == [row["viewtime"] for row in rows]
    schema = from_field(batch.records.schema.field("value"))
    assert schema is not None
    assert schema.name == "ksql.pageviews"
    assert [f.optional for f in schema.fields.values()] == [False] * 3


def test_users_are_keyed_by_user() -> None:
    batch = _one({**FAST, "quickstart": "users", "iterations": "200"})
    rows = batch.records.column("value").to_pylist()
    assert {row["gender"] for row in rows} == {"MALE", "FEMALE", "OTHER"}
    assert all(1487715775521 <= row["registertime"] < 1519273364600 for row in rows)
    assert batch.records.column("key").to_pylist() == [row["userid"] for row in rows]


def test_a_task_goes_on_where_its_offset_says_and_makes_the_same_records() -> None:
    config = {**PAGEVIEWS, "iterations": "5000"}
    whole, end = _all(_task(config))
    assert len(whole) == 5000
    partition, offset = end
    assert partition == {"task.id": 0}
    assert offset["current.iteration"] == 5000
    moved = {**offset, "current.iteration": 1234}
    rest, _ = _all(_task(config, (partition, moved)))
    assert rest == whole[1234:]
    assert _all(_task(config, end))[0] == []


def test_without_a_seed_the_offset_has_it() -> None:
    config = {**PAGEVIEWS, "iterations": "50"}
    del config["random.seed"]
    whole, (partition, offset) = _all(_task(config))
    again, _ = _all(_task(config, (partition, {**offset, "current.iteration": 0})))
    assert again == whole


def test_tasks_make_different_records() -> None:
    config = {**PAGEVIEWS, "iterations": "50"}
    first, _ = _all(_task({**config, "task.id": "0"}))
    second, _ = _all(_task({**config, "task.id": "1"}))
    assert first != second


CUSTOM = {
    "type": "record",
    "name": "orders",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": {"type": "int", "arg.properties": {"iteration": {"start": 5}}}},
        {"name": "price", "type": {"type": "double", "arg.properties": {"range": {"min": 1, "max": 2}}}},  # noqa: E501 (one case, one line)
        {"name": "size", "type": {"type": "enum", "name": "size", "symbols": ["S", "M"]}},
        {"name": "note", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "array", "items": "string", "arg.properties": {"length": 2}}},  # noqa: E501 (one case, one line)
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {"name": "buyer", "type": {"type": "record", "name": "buyer", "fields": [
            {"name": "vip", "type": "boolean"}]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis",
                                "arg.properties": {"iteration": {"start": 0, "step": 1000}}}},
    ],
}  # fmt: skip


def test_a_custom_schema() -> None:
    batch = _one({**FAST, "schema.string": json.dumps(CUSTOM), "schema.keyfield": "id",
                  "iterations": "40"})  # fmt: skip
    rows = batch.records.column("value").to_pylist()
    assert [row["id"] for row in rows] == list(range(5, 45))
    assert all(1 <= row["price"] < 2 and len(row["tags"]) == 2 for row in rows)
    assert {row["size"] for row in rows} == {"S", "M"}
    assert {row["note"] is None for row in rows} == {True, False}
    assert {row["buyer"]["vip"] for row in rows} == {True, False}
    assert rows[3]["at"].timestamp() == 3


@pytest.mark.parametrize(
    ("config", "key", "words"),
    [
        ({}, "quickstart", "either"),
        ({"quickstart": "users", "schema.string": "{}"}, "quickstart", "either"),
        ({"schema.string": "{"}, "schema.string", "not JSON"),
        ({"schema.string": '"string"'}, "schema.string", "must be an Avro record"),
        ({"schema.string": '{"type":"record","name":"r","fields":[{"name":"x"}]}'},
         "schema.string", "lacks"),
        ({"schema.string": '{"type":"record","name":"r","fields":[{"name":"x","type":{"type":'
          '"string","arg.properties":{"regex":"[a-z]{9}"}}}]}'}, "schema.string", "at most"),
        ({"quickstart": "users", "schema.keyfield": "nobody"}, "schema.keyfield", "no field"),
        ({"quickstart": "users", "schema.filename": "/etc/passwd"}, "schema.filename", "any host"),
    ],
)  # fmt: skip
def test_bad_configurations_name_the_key(config: dict[str, str], key: str, words: str) -> None:
    ((named, message),) = DatagenConnector().validate({**FAST, **config})
    assert named == key
    assert words in message


def test_an_unknown_quickstart_is_refused() -> None:
    with pytest.raises(ConfigError, match="pageviews, users"):
        _task({**FAST, "quickstart": "nothing"})


def test_regular_expressions() -> None:
    assert matching_texts("a[0-2]?(x|y)") == ["ax", "ay", "a0x", "a0y", "a1x", "a1y", "a2x", "a2y"]
    assert len(matching_texts(r"\d+")) == 10 + 100 + 1000 + 10000


def test_pace_and_count() -> None:
    slow = Clock(Pacing(seconds=3600, most=10), 0)
    assert slow.take(100) == 1, "the first record is due at once, the next after its gap"
    assert slow.take(100) == 0
    quick = Clock(Pacing(seconds=0.01, most=10), 4)
    taken = 0

    def all_taken() -> bool:
        nonlocal taken
        taken += quick.take(3)
        return taken == 6

    eventually(all_taken)
    assert quick.take(3) == 0


def test_a_look_waits_for_the_gap_and_ends_with_the_count() -> None:
    connector = DatagenConnector()
    connector.start({**PAGEVIEWS, "max.interval": "20", "iterations": "2"})
    connector.task_configs(1)
    assert connector.look(OffsetReader())
    one = OffsetReader([({"task.id": 0}, {"current.iteration": 1, "random.seed": 1})])
    eventually(lambda: connector.look(one))
    two = OffsetReader([({"task.id": 0}, {"current.iteration": 2, "random.seed": 1})])
    assert not connector.look(two)


def test_altered_offsets_are_checked() -> None:
    connector = DatagenConnector()
    good = ({"task.id": 0}, {"current.iteration": 3})
    assert connector.alter_offsets({}, [good, ({"task.id": 1}, None)])
    for bad in [(None, None), ({"x": 1}, None), ({"task.id": 0}, {"current.iteration": -1}),
                ({"task.id": 0}, {"current.iteration": 1, "random.seed": "x"})]:  # fmt: skip
        with pytest.raises(OffsetError):
            connector.alter_offsets({}, [bad])
