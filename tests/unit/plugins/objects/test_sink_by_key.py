"""Objects by key: what is in them, that nothing is lost, and that the source restores the keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from object_sources import Objects
from penstock.plugins.objects.keys_in_names import key_from_name, key_in_name, keys_in_names
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk import Assignment, Assignments, RecordError, Schema, record_batch
from penstock.sdk.batches import SourceBatch
from penstock.sdk.packing import column
from penstock.sdk.testing import PlayedSource

T = ("t", 0)
GROUPED = "{{topic}}/{{partition}}/{{key}}/{{start_offset}}"
ALONE = {"format.output.envelope": "false", "format.output.fields": "value"}


def task_of(
    folder: Path, more: dict[str, str], offset: int = 0, metadata: str = ""
) -> ObjectSinkTask:
    task = ObjectSinkTask()
    plain = {"format.output.type": "jsonl", "file.compression.type": "none"}
    task.start({"local.folder": str(folder), **plain, **ALONE, **more})
    task.open(Assignments([Assignment(*T, offset, metadata)], [], 1))
    return task


def records(keys: list[str | None], first: int = 0) -> pa.RecordBatch:
    rows = len(keys)
    return record_batch(
        "t",
        pa.array([f"v{first + row}" for row in range(rows)]),
        key=pa.array(keys, pa.string()),
        partition=pa.array([0] * rows, pa.int32()),
        timestamp=pa.array([0] * rows, pa.int64()),
        offset=pa.array(range(first, first + rows), pa.int64()),
    )


def flush_all(task: ObjectSinkTask) -> int:
    task.may_hold, safe = False, 0
    while any(lane.growing or lane.sealed for lane in task._lanes.values()):
        safe = (task.flush().offsets or {}).get(T, safe)
    task.stop()
    return safe


def contents(folder: Path) -> dict[str, list[Any]]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {
        str(file.relative_to(folder)): [json.loads(x) for x in file.read_text().splitlines()]
        for file in files
    }


def test_each_key_has_objects_of_its_own(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"file.name.template": GROUPED, "file.max.records": "6"})
    task.put(records(["a", "b", "a", None, "", "a/.."]))
    task.put(records(["b", "b"], first=6))
    assert flush_all(task) == 8
    assert contents(tmp_path) == {
        "t/0/a/0": ["v0", "v2"],
        "t/0/b/1": ["v1"],
        "t/0/null/3": ["v3"],
        "t/0/%/4": ["v4"],
        "t/0/a%2F../5": ["v5"],
        "t/0/b/6": ["v6", "v7"],
    }


def test_the_latest_record_of_each_key(tmp_path: Path) -> None:
    for first in (0, 4):
        task = task_of(tmp_path, {"file.name.template": "{{key}}"}, first)
        task.put(records(["a", "b", "a", "c"] if not first else ["b"], first))
        assert flush_all(task) == (4 if not first else 5)
    assert contents(tmp_path) == {"a": ["v2"], "b": ["v4"], "c": ["v3"]}


def test_ranges_replace_each_other_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.plugins.objects.sink_lane.MOST_RECORDS", 1)
    task = task_of(tmp_path, {"file.name.template": "{{key}}"})
    task.put(records(["a"] * 30))
    task.flush()
    running = []
    while any(lane.growing or lane.sealed for lane in task._lanes.values()):
        task.may_hold = False
        task.flush()
        running.append(len(task._running()))
    task.stop()
    assert max(running, default=0) <= 1
    assert contents(tmp_path) == {"a": ["v29"]}


def test_whoever_comes_next_writes_the_same_objects(tmp_path: Path) -> None:
    more = {"file.name.template": GROUPED, "file.max.records": "4"}
    task = task_of(tmp_path, more)
    task.put(records(["a", "b", "a", "b", "c"]))
    told = task.flush().metadata
    task.stop()
    assert contents(tmp_path) == {}
    assert isinstance(told, dict)
    task = task_of(tmp_path, more, 0, told[T])
    task.put(records(["a", "b", "a", "b", "c", "a"]))
    assert flush_all(task) == 6
    assert contents(tmp_path) == {
        "t/0/a/0": ["v0", "v2"],
        "t/0/b/1": ["v1", "v3"],
        "t/0/c/4": ["v4"],
        "t/0/a/5": ["v5"],
    }


def test_records_that_the_format_refuses_leave_nothing_behind(tmp_path: Path) -> None:
    more = {"file.name.template": GROUPED, "format.output.type": "avro"}
    task = task_of(tmp_path, {**more, "format.output.envelope": "true"})
    odd, field = column("value", Schema.struct({"no-name": Schema.string()}), [{"no-name": "a"}])
    refused = record_batch(
        "t",
        odd,
        value_field=field,
        key=pa.array(["a"]),
        partition=pa.array([0], pa.int32()),
        timestamp=pa.array([0], pa.int64()),
        offset=pa.array([0], pa.int64()),
    )
    with pytest.raises(RecordError, match="no-name is not a name in Avro"):
        task.put(refused)
    flush_all(task)
    assert contents(tmp_path) == {}


class Topic(PlayedSource):
    """Keeps keys and values."""

    def __init__(self, source: Objects) -> None:
        super().__init__(source)
        self.records: list[tuple[Any, Any]] = []

    def commit(self, batches: Any) -> Any:
        kept: list[SourceBatch] = list(batches)
        for batch in kept:
            rows = batch.records.to_pylist()
            self.records += [(row["key"], row["value"]) for row in rows]
        return super().commit(kept)


class ByKey(Objects):
    def number(self, value: Any) -> int:
        return 0


def test_the_source_takes_the_key_from_the_name(tmp_path: Path) -> None:
    task = task_of(tmp_path, {"file.name.template": "x/{{key}}.txt"})
    task.put(records(["a", "b/c", "", "a"]))
    flush_all(task)
    source = ByKey({"local.folder": str(tmp_path)}, **{"file.name.template": r"x/{{key}}\.txt"})
    source.configure(input_format="text")
    topic = Topic(source)
    topic.turn()
    assert sorted(topic.records) == [(b"", '"v2"'), (b"a", '"v3"'), (b"b/c", '"v1"')]


@given(st.binary())
def test_a_name_tells_its_key(key: bytes) -> None:
    name = key_in_name(key)
    assert "/" not in name
    assert name not in {"", ".", ".."}
    assert key_from_name(name) == key


@pytest.mark.parametrize("name", ["100%", "%41", "ä", "a b"])
def test_names_of_others_are_taken_as_they_are(name: str) -> None:
    assert key_from_name(name) == name.encode()


def test_keys_of_other_types() -> None:
    json_keys = pa.array(['"a b"', "1", '{"n":1}', None], pa.string())
    schemaless = pa.ExtensionArray.from_storage(pa.json_(), json_keys)
    assert keys_in_names(schemaless).to_pylist() == ["a%20b", "1", "%7B%22n%22:1%7D", "null"]
    assert keys_in_names(pa.array([5, None])).to_pylist() == ["5", "null"]
    assert keys_in_names(pa.array([b"\xff"])).to_pylist() == ["%FF"]
