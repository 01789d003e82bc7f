"""How records become objects: when an object is complete, and what a lease leaves to the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pytest

from penstock.plugins.objects.sink_plan import read_plan
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk import Assignment, Assignments, Flushed, RetriableError, UserError, record_batch

T = ("t", 0)
HOUR = 3_600_000


class Clocked(ObjectSinkTask):
    """With a clock that tests move."""

    time = 0

    def now(self) -> int:
        return Clocked.time


@pytest.fixture
def lease(tmp_path: Path) -> Any:
    """Begins a lease of t-0 at an offset with the metadata of its last commit."""
    begun: list[ObjectSinkTask] = []

    def begin(offset: int = 0, metadata: str = "", **keys: str) -> ObjectSinkTask:
        task = Clocked()
        config = {"local.folder": str(tmp_path), "format.output.type": "jsonl"}
        more = {"file.compression.type": "none", "file.max.age.ms": str(HOUR)}
        dotted = {key.replace("_", "."): text for key, text in keys.items()}
        task.start({**config, **more, **dotted})
        task.open(Assignments([Assignment(*T, offset, metadata)], [], 1))
        begun.append(task)
        return task

    Clocked.time = 1000
    yield begin
    for task in begun:
        task.stop()


def numbers(first: int, end: int) -> pa.RecordBatch:
    rows = end - first
    return record_batch(
        "t",
        pa.array([str(number) for number in range(first, end)]),
        partition=pa.array([0] * rows, pa.int32()),
        timestamp=pa.array([7 * HOUR] * rows, pa.int64()),
        offset=pa.array(range(first, end), pa.int64()),
    )


def objects(folder: Path) -> dict[str, list[int]]:
    return {
        path.name: [int(json.loads(line)["value"]) for line in path.read_text().splitlines()]
        for path in sorted(folder.iterdir())
    }


def told(flushed: Flushed) -> str:
    assert isinstance(flushed.metadata, dict)
    return str(flushed.metadata[T])


def test_an_object_has_its_age_from_its_first_record_on_across_leases(
    lease: Any, tmp_path: Path
) -> None:
    again = lease()
    again.put(numbers(0, 3))
    text = told(again.flush())
    for minute in range(1, 60):
        Clocked.time = 1000 + minute * 60_000
        again = lease(0, text)
        again.put(numbers(0, 3 + minute))
        flushed = again.flush()
        assert flushed.offsets == {}
        text = told(flushed)
    Clocked.time = 1000 + HOUR
    again.flush()
    assert objects(tmp_path) == {}
    flushed = again.flush()
    assert flushed == Flushed({T: ""}, {T: 62})
    assert objects(tmp_path) == {"t-0-0": list(range(62))}


def test_a_record_a_second_makes_an_object_an_hour(lease: Any, tmp_path: Path) -> None:
    """A commit every minute, another lease every ten, and three that are killed in between."""
    kills = {1777, 3675, 6666}
    task, offset, text = lease(), 0, ""
    for second in range(2 * 3600 + 120):
        Clocked.time = 1000 + second * 1000
        if second % 60 == 0:
            flushed = task.flush()
            offset, text = flushed.offsets.get(T, offset), told(flushed)
        if second % 600 == 0 or second in kills:
            task = lease(offset, text)
            if second > offset:
                task.put(numbers(offset, second))
        task.put(numbers(second, second + 1))
    hours = {f"t-0-{n}": list(range(n, n + 3600)) for n in (0, 3600)}
    assert objects(tmp_path) == hours


def test_nothing_is_written_before_its_plan_is_committed(lease: Any, tmp_path: Path) -> None:
    task = lease(file_max_records="4")
    task.put(numbers(0, 10))
    planned = task.flush()
    assert planned.offsets == {}
    plan = read_plan(told(planned), task._layout)
    assert [each[:2] for each in plan.planned] == [(0, 4), (4, 8)]
    assert objects(tmp_path) == {}
    assert task.flush().offsets == {T: 8}
    assert objects(tmp_path) == {"t-0-0": [0, 1, 2, 3], "t-0-4": [4, 5, 6, 7]}


@pytest.mark.parametrize("written", [False, True])
def test_the_next_lease_writes_what_was_planned(lease: Any, tmp_path: Path, written: bool) -> None:
    """Killed before or after it wrote: the same objects, though more records are there by now."""
    killed = lease(file_max_age_ms="1")
    killed.put(numbers(0, 3))
    Clocked.time += 10
    text = told(killed.flush())
    if written:
        killed.put(numbers(3, 5))
        assert killed.flush().offsets == {T: 3}
    heir = lease(0, text, file_max_age_ms="1")
    Clocked.time += HOUR
    heir.put(numbers(0, 9))
    safe = 0
    while safe < 9:
        safe = heir.flush().offsets.get(T, safe)
        Clocked.time += 10
    assert objects(tmp_path) == {"t-0-0": [0, 1, 2], "t-0-3": [3, 4, 5, 6, 7, 8]}


@pytest.mark.parametrize("offset", [0, 2, 5])
def test_altered_offsets_leave_nothing_of_a_plan(lease: Any, tmp_path: Path, offset: int) -> None:
    task = lease(file_max_records="2")
    text = json.dumps({"layout": task._layout, "planned": [[1, 3, 9], [3, 4, 9]], "begun": None})
    altered = lease(offset, text, file_max_records="2")
    altered.put(numbers(offset, offset + 4))
    altered.flush()
    assert altered.flush().offsets == {T: offset + 4}
    assert list(objects(tmp_path)) == [f"t-0-{offset}", f"t-0-{offset + 2}"]


def test_another_layout_drops_the_plan(lease: Any, tmp_path: Path) -> None:
    task = lease(file_max_records="2")
    text = json.dumps({"layout": task._layout, "planned": [[0, 3, 9]], "begun": None})
    other = lease(
        0, text, file_max_records="2", file_name_template="x/{{topic}}{{partition}}{{start_offset}}"
    )
    other.put(numbers(0, 2))
    other.flush()
    assert other.flush().offsets == {T: 2}


def test_a_plan_whose_records_are_compacted_away_ends_where_it_was_to_end(
    lease: Any, tmp_path: Path
) -> None:
    task = lease()
    text = json.dumps({"layout": task._layout, "planned": [[0, 5, 9]], "begun": None})
    heir = lease(0, text)
    heir.put(numbers(2, 4))
    heir.put(numbers(7, 8))
    heir.flush()
    assert objects(tmp_path) == {"t-0-0": [2, 3]}


def test_many_objects_are_planned_a_part_at_a_time_within_what_kafka_takes(lease: Any) -> None:
    task = lease(file_max_records="1")
    task.put(numbers(0, 200))
    safe = 0
    while safe < 200:
        flushed = task.flush()
        assert len(told(flushed)) < 4096
        safe = flushed.offsets.get(T, safe)


def test_the_time_in_a_name_is_that_of_the_first_record_if_so_configured(
    lease: Any, tmp_path: Path
) -> None:
    name = "{{topic}}-{{partition}}-{{start_offset}}-{{timestamp:unit=HH}}"
    task = lease(file_name_template=name, file_name_timestamp_source="EVENT", file_max_records="2")
    task.put(numbers(0, 2))
    task.flush()
    task.flush()
    assert list(objects(tmp_path)) == ["t-0-0-07"]


def test_a_large_object_passes_through_a_file_in_parts(lease: Any, tmp_path: Path) -> None:
    task = lease(file_max_records="40000")
    rows = 20_000
    values = pa.array(["x" * 500] * rows)
    for first in (0, rows):
        task.put(numbers(first, first + rows).set_column(3, "value", values))
    task.flush()
    flushed = task.flush()
    while not flushed.offsets:
        flushed = task.flush()
    (written,) = tmp_path.iterdir()
    assert written.stat().st_size == 2 * rows * (500 + len('{"value":""}\n'))


def test_an_upload_that_fails_is_told_and_repeated(
    lease: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Exception] = [TimeoutError("slow"), PermissionError("no")]
    put = obstore.put

    def failing(*args: Any, **kwargs: Any) -> Any:
        if failures:
            raise failures.pop(0)
        return put(*args, **kwargs)

    monkeypatch.setattr(obstore, "put", failing)
    task = lease(file_max_records="2")
    task.put(numbers(0, 2))
    task.flush()
    with pytest.raises(RetriableError, match=r"writing t-0-0 in .* failed: slow"):
        task.flush()
    with pytest.raises(UserError, match="is not allowed"):
        task.flush()
    assert task.flush().offsets == {T: 2}
    assert objects(tmp_path) == {"t-0-0": [0, 1]}


def test_a_topic_that_a_transform_has_made_changes_no_offsets(lease: Any, tmp_path: Path) -> None:
    task = lease()
    task.read_from = T
    batch = numbers(0, 3)
    routed = pa.array(["elsewhere"] * 3).dictionary_encode()
    task.put(batch.set_column(0, batch.schema.field(0), routed))
    task.flush()
    Clocked.time += HOUR
    task.flush()
    assert task.flush().offsets == {T: 3}
    assert objects(tmp_path) == {"t-0-0": [0, 1, 2]}
