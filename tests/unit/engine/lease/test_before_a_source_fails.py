"""A source that fails over a record or by itself: the batches before are committed first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Heartbeat, Progress
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import LeaseLost
from penstock.sdk import OffsetReader, Schema, SourceRecord, SourceTask
from penstock.sdk.errors import FatalError, RetriableError, UserError

TEXT, BYTES = Schema.string(), Schema.bytes()


def record(number: int, value: object, schema: Schema) -> SourceRecord:
    headers = [("h", b"")]  # with a header, records are produced one by one
    return SourceRecord({}, {"next": number + 1}, "t", value, schema, headers=headers)


class BadRecord(SourceTask):
    """Two good records, a bad one, a good one: each in a poll of its own."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        good = [record(number, str(number), TEXT) for number in range(4)]
        self.records = iter([*good[:2], record(2, b"StringConverter writes none", BYTES), good[3]])

    def poll(self) -> list[SourceRecord] | None:
        return [next(self.records)]


class AllAtOnce(BadRecord):
    """The same in one poll."""

    def poll(self) -> list[SourceRecord] | None:
        return list(self.records)


class Broken(BadRecord):
    """Two good records, then its own error."""

    def poll(self) -> list[SourceRecord] | None:
        found = next(self.records)
        if found.source_offset["next"] == 3:
            raise UserError("the disk is gone")
        return [found]


def loop(task: type[SourceTask], *, orphaned: bool = False) -> SourceLoop:
    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease: Any = Mock(
        limits=Limits(transaction_seconds=1000.0),
        tolerance=Tolerance(),
        pipeline=Pipeline(key, value),
        connector="orders",
        secrets=(),
        task_class=task,
        positions=(),
        partition_keys=(),
        topic_groups=(),
        offsets_topic="offsets",
        membership=Membership(b"", "workers"),
        pace=Pace(),
    )
    heartbeat = Mock(over=False, progress=Progress(), leases=lambda: 1, standing=lambda: None)
    heartbeat.orphaned.is_set.return_value = orphaned
    return SourceLoop(lease, heartbeat)


@pytest.mark.parametrize(
    ("task", "error"), [(BadRecord, FatalError), (AllAtOnce, FatalError), (Broken, UserError)]
)
def test_the_batches_before_are_committed(task: type[SourceTask], error: type[Exception]) -> None:
    running, producer = loop(task), Mock(raw=None)
    with pytest.raises(error):
        running._move_records(producer)
    [(_, partition, offset)] = running._outcome()["positions"]
    assert (partition, offset) == ({}, {"next": 2})
    assert [call.args[1] for call in producer.send.call_args_list] == [b"0", b"1"]
    assert producer.commit.call_count == 1


def test_an_orphan_commits_nothing() -> None:
    running, producer = loop(BadRecord, orphaned=True), Mock(raw=None)
    with pytest.raises(LeaseLost):
        running._move_records(producer)
    assert not producer.commit.called


class Waiting(BadRecord):
    """Waits for a service, and wants an hour before it is asked again."""

    def poll(self) -> list[SourceRecord] | None:
        raise RetriableError("the service is down", retry_after=3600.0)


def test_a_source_that_waits_for_a_service_ends_with_its_lease() -> None:
    """Otherwise its worker would take it for one that hangs."""
    running = loop(Waiting)
    running._heartbeat = Heartbeat()
    running._until = time.monotonic() + 0.05
    running._move_records(Mock(raw=None))
    assert running._progress.retries >= 1
