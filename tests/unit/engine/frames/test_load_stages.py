"""What tasks poll, and what topics have, as loads for Spark's step."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.transforms.hoist_field import HoistFieldValue
from penstock.engine.frames.load_stages import polled, sink_load
from penstock.engine.frames.loads import Load
from penstock.engine.lease.lease import SourceLease
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.predicated import Predicated
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.records import SourceRecord
from penstock.sdk.schema import Schema
from penstock.sdk.tasks import SourceTask

PLACE = {"file": "f"}


def pipeline(*, json: bool = False) -> Pipeline:
    key, value = StringConverter(), JsonConverter() if json else StringConverter()
    key.configure({}, is_key=True)
    value.configure({"schemas.enable": "false"}, is_key=False)
    hoist = HoistFieldValue()
    hoist.configure({"field": "line"})
    return Pipeline(key, value, [Predicated(hoist)])


def record(value: Any, position: int) -> SourceRecord:
    return SourceRecord(PLACE, {"position": position}, "t", value, value_schema=Schema.string())


class Played(SourceTask):
    """Hands out what it is given, and raises what is an error."""

    def __init__(self, polls: list[Any], rest: list[Any]) -> None:
        self.polls, self.rest, self.stopped = polls, rest, False

    def start(self, config: Any, offsets: Any) -> None:
        self.known = offsets.get(PLACE)

    def poll(self) -> Any:
        found = self.polls.pop(0) if self.polls else None
        if isinstance(found, Exception):
            raise found
        return found

    def finish(self) -> Any:
        return self.rest

    def stop(self) -> None:
        self.stopped = True


def loads(task: Played) -> Iterator[Load]:
    lease = SimpleNamespace(
        task_class=lambda: task, config={}, positions=[(b"", PLACE, {"position": 1})]
    )
    return polled(cast("SourceLease", lease), pipeline())


def told(load: Load) -> tuple[list[Any], list[int]]:
    values = [v for group in load.groups for v in group.column("value").to_pylist()]
    return values, [offset["position"] for _, offset in load.offsets if offset]


def test_what_a_task_polls_goes_through_the_transforms_before() -> None:
    task = Played([[record("a", 2), record("b", 3)], [record("c", 4)]], [[record("d", 5)]])
    found = list(loads(task))
    assert [told(load) for load in found] == [
        ([{"line": "a"}, {"line": "b"}], [3]),
        ([{"line": "c"}], [4]),
        ([{"line": "d"}], [5]),
    ]
    assert (task.known, task.stopped) == ({"position": 1}, True)


def test_a_record_that_cannot_be_read_is_a_failure_of_its_own() -> None:
    unread = RecordError("no record", source_partition=PLACE, source_offset={"position": 3})
    found = list(loads(Played([[record("a", 2)], unread, [record("c", 4)]], [])))
    assert [load.failure for load in found] == [None, unread, None]


def test_a_record_that_does_not_fit_its_schema_stands_between_its_neighbours() -> None:
    found = list(loads(Played([[record("a", 2), record(5, 3), record("c", 4)]], [])))
    assert [told(load) for load in found if not load.failure] == [
        ([{"line": "a"}], [2]),
        ([{"line": "c"}], [4]),
    ]
    failure = found[1].failure
    assert isinstance(failure, RecordError)
    assert (failure.data, failure.source_offset) == (b"5", {"position": 3})


def test_errors_of_a_task_come_after_what_it_has_brought() -> None:
    task = Played([[record("a", 2)], RetriableError("later")], [])
    found = loads(task)
    assert told(next(found)) == ([{"line": "a"}], [2])
    with pytest.raises(RetriableError):
        next(found)
    assert task.stopped


def test_a_record_that_cannot_be_converted_is_refused_with_its_offset() -> None:
    values = pa.array([b'"a"', b"{oops", b'"c"'], pa.binary())
    raw = record_batch(
        "t",
        values,
        key=pa.nulls(3, pa.binary()),
        partition=pa.array([0] * 3, pa.int32()),
        offset=pa.array([7, 8, 9], pa.int64()),
    )
    load = sink_load(raw, pipeline(json=True), kept=False)
    [(refused, problem)] = load.refused
    assert refused.column("offset").to_pylist() == [8]
    assert problem.stage == "VALUE_CONVERTER"
    offsets = [o for group in load.groups for o in group.column("offset").to_pylist()]
    assert offsets == [7, 9]
    assert load.raw is not None
    assert load.raw.column("value").null_count == 3
    assert sink_load(raw, pipeline(json=True), kept=True).raw is raw
