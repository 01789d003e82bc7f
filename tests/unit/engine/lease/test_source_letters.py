"""Records of a source that cannot be read, transformed or converted become dead letters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Progress
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.sdk import OffsetReader, Schema, SourceRecord, SourceTask
from penstock.sdk.errors import FatalError, RecordError

TEXT, ROW = Schema.string(), Schema.struct({"id": Schema.int32()})
TOLERANT = Tolerance(all_errors=True, dead_letter_topic="dead")


class Done(Exception):  # noqa: N818 (no error)
    """The task has no more records."""


def record(number: int, value: object, schema: Schema) -> SourceRecord:
    headers = [("h", b"")]  # with a header, records are produced one by one
    return SourceRecord({"p": 1}, {"next": number + 1}, "t", value, schema, headers=headers)


class Polls(SourceTask):
    """Polls that are given; an exception among them is raised."""

    polls: tuple[Any, ...] = ()

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.left = list(self.polls)

    def poll(self) -> list[SourceRecord] | None:
        found = self.left.pop(0) if self.left else Done()
        if isinstance(found, Exception):
            raise found
        records: list[SourceRecord] = found
        return records


def task(*polls: Any) -> type[Polls]:
    return type("Given", (Polls,), {"polls": polls})


def run(kind: type[SourceTask], tolerance: Tolerance, error: type[Exception]) -> tuple[Any, Any]:
    """The lease's outcome and what it asked of its producer."""
    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease: Any = Mock(
        limits=Limits(transaction_seconds=1000.0),
        tolerance=tolerance,
        pipeline=Pipeline(key, value),
        connector="orders",
        task=0,
        secrets=("s3cret",),
        task_class=kind,
        positions=(),
        partition_keys=(),
        topic_groups=(),
        offsets_topic="offsets",
        membership=Membership(b"", "workers"),
        pace=Pace(),
    )
    heartbeat = Mock(over=False, progress=Progress(), leases=lambda: 1, standing=lambda: None)
    heartbeat.orphaned.is_set.return_value = False
    # No client's own producer: records are sent one by one.
    running, producer = SourceLoop(lease, heartbeat), Mock(raw=None)
    running._letter_topic = Mock()
    with pytest.raises(error):
        running._move_records(producer)
    return running, producer


def sent(producer: Any) -> list[tuple[str, bytes | None]]:
    return [call.args[:2] for call in producer.send.call_args_list]


def header(producer: Any, name: str, call: int = -1) -> Any:
    headers = dict(producer.send.call_args_list[call].kwargs["headers"])
    return headers.get(f"__connect.errors.{name}")


def test_what_no_converter_writes_is_json_in_the_letter() -> None:
    given = task([record(0, "a", TEXT)], [record(1, {"id": 7}, ROW)], [record(2, "c", TEXT)])
    running, producer = run(given, TOLERANT, Done)
    assert sent(producer) == [("t", b"a"), ("dead", b'{"id":7}'), ("t", b"c")]
    assert header(producer, "source.offset", 1) == b'{"next":2}'
    assert header(producer, "source.partition", 1) == b'{"p":1}'
    assert header(producer, "stage", 1) is None
    assert producer.commit.call_count == 1
    progress = running._progress
    assert (progress.bad_records, progress.skipped, progress.dead_letters) == (1, 1, 1)


def test_what_does_not_fit_its_schema_is_set_aside_and_passed() -> None:
    given = task([record(0, "a", TEXT), record(1, 5, TEXT)])
    running, producer = run(given, replace(TOLERANT, context_headers=True), Done)
    assert sent(producer) == [("t", b"a"), ("dead", b"5")]
    assert header(producer, "stage") == b"TASK_POLL"
    assert header(producer, "connector.name") == b"orders"
    [(_, partition, offset)] = running._outcome()["positions"]
    assert (partition, offset) == ({"p": 1}, {"next": 2})


def test_what_a_task_cannot_read_is_in_the_letter_as_it_was() -> None:
    bad = RecordError(
        "line 2 is broken by s3cret",
        data=b"\xff",
        source_partition={"p": 1},
        source_offset={"next": 2},
    )
    given = task([record(0, "a", TEXT)], bad, [record(2, "c", TEXT)])
    running, producer = run(given, replace(TOLERANT, context_headers=True), Done)
    assert sent(producer) == [("t", b"a"), ("dead", b"\xff"), ("t", b"c")]
    assert b"s3cret" not in header(producer, "exception.message", 1)
    assert json.loads(header(producer, "source.offset", 1)) == {"next": 2}
    [(_, _, offset)] = running._outcome()["positions"]
    assert offset == {"next": 3}


def test_without_tolerance_it_fails_and_what_was_before_is_committed() -> None:
    given = task([record(0, "a", TEXT)], RecordError("broken"), [record(2, "c", TEXT)])
    running, producer = run(given, Tolerance(dead_letter_topic="dead"), FatalError)
    assert sent(producer) == [("t", b"a")]
    [(_, _, offset)] = running._outcome()["positions"]
    assert offset == {"next": 1}


def test_without_a_topic_it_is_only_skipped() -> None:
    given = task([record(0, 5, TEXT), record(1, "b", TEXT)])
    running, producer = run(given, Tolerance(all_errors=True), Done)
    assert sent(producer) == [("t", b"b")]
    assert running._progress.dead_letters == 0
