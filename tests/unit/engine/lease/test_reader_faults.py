"""A sink lease whose reader fails: what was put before is committed, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease import topic_reader
from penstock.engine.lease.heartbeats import Progress
from penstock.engine.lease.lease import End, Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.topic_reader import MOST_REFUSALS, TopicReader
from penstock.engine.lease.traces import ending_of
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.column_consumer import Signal
from penstock.kafka.column_source import Taken
from penstock.kafka.errors import AccessDenied, KafkaFault, LeaseLost, OutcomeUnknown
from penstock.sdk.batches import record_batch

STARTS = {("kept", 0): 4, ("gone", 0): 7}


def records(topic: str, offset: int) -> pa.RecordBatch:
    return record_batch(
        topic,
        pa.array([b"value"]),
        key=pa.nulls(1, pa.binary()),
        partition=pa.array([0], pa.int32()),
        offset=pa.array([offset], pa.int64()),
    )


def trouble(code: int, topic: str) -> Signal:
    return Signal(KafkaError(code), topic)


DELETED = trouble(KafkaError.UNKNOWN_TOPIC_OR_PART, "gone")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Readers of what a test says, once; then there is nothing more."""
    made: list[TopicReader] = []

    def begin(*script: Taken) -> TopicReader:
        left = iter(script)
        source = Mock(take=lambda _most, _patience: next(left, ([], [])))
        monkeypatch.setattr(topic_reader, "column_source", lambda *_, **__: source)
        made.append(TopicReader(Mock(), STARTS))
        return made[-1]

    yield begin
    for reader in made:
        reader.close()


def test_an_error_waits_until_the_records_beside_it_are_returned(reads: Any) -> None:
    """Else what ``reached`` tells of would not have been put."""
    reader = reads(([records("kept", 4), records("gone", 7)], [DELETED]))
    assert len(reader.read(10, 0)) == 2
    for _ in range(2):
        with pytest.raises(LeaseLost):
            reader.read(10, 0)
    assert reader.reached == {("kept", 0): 5}


def test_a_topic_that_is_still_there_keeps_what_was_reached(reads: Any) -> None:
    out_of_range = trouble(KafkaError.OFFSET_OUT_OF_RANGE, "gone")
    reader = reads(([records("kept", 4), records("gone", 7)], []), ([], [out_of_range]))
    reader.read(10, 0)
    with pytest.raises(LeaseLost):
        reader.read(10, 0)
    assert reader.reached == {("kept", 0): 5, ("gone", 0): 8}


@pytest.mark.parametrize(
    "code", [KafkaError._RESOLVE, KafkaError._SSL, KafkaError._ALL_BROKERS_DOWN]
)
def test_what_a_client_says_of_no_topic_is_nothing_to_end_for(reads: Any, code: int) -> None:
    reader = reads(([], [trouble(code, "")]), ([records("kept", 4)], [trouble(code, "")]))
    assert reader.read(10, 0) == []
    assert len(reader.read(10, 0)) == 1
    assert reader.read(10, 0) == []


def test_a_client_that_cannot_go_on_ends_the_lease(reads: Any) -> None:
    reader = reads(([], [trouble(KafkaError._FATAL, "")]))
    with pytest.raises(LeaseLost):
        reader.read(10, 0)


def test_a_login_that_is_refused_again_and_again_fails_the_task(reads: Any) -> None:
    """A broker that is just ending refuses, too; but it does not go on doing so."""
    refused: Taken = ([], [trouble(KafkaError._AUTHENTICATION, "")])
    few = [refused] * (MOST_REFUSALS - 1)
    reader = reads(*few, ([records("kept", 4)], []), *few, refused)
    for _ in range(2 * len(few) + 1):
        reader.read(10, 0)
    with pytest.raises(KafkaFault, match=r"not let this client log in .*_AUTHENTICATION") as told:
        reader.read(10, 0)
    assert ending_of(told.value) is End.FAILED


def texts() -> StringConverter:
    converter = StringConverter()
    converter.configure({}, is_key=False)
    return converter


def loop(*, orphaned: bool = False) -> SinkLoop:
    lease: Any = Mock(
        limits=Limits(transaction_seconds=1000.0),
        tolerance=Tolerance(),
        pace=Pace(),
        consumer_settings={},
        pipeline=Pipeline(texts(), texts()),
        connector="orders",
        group="connect-orders",
        topic_ids={},
        assignments=(),
        membership=Membership(b"", "workers"),
    )
    heartbeat = Mock(over=False, progress=Progress(), leases=lambda: 1, standing=lambda: None)
    heartbeat.orphaned.is_set.return_value = orphaned
    made = SinkLoop(lease, heartbeat)
    made._producer = Mock()
    return made


def committed(running: SinkLoop) -> list[tuple[str, int, int, str]]:
    """What the last transaction has of the sink's own group."""
    _, groups = running._producer.commit.call_args.args  # type: ignore[attr-defined]  # a Mock
    return list(groups[0].offsets)


def test_what_was_put_is_flushed_and_committed_before_the_lease_is_lost(reads: Any) -> None:
    running, task = loop(), Mock()
    task.flush.return_value = "here"
    reader = reads(([records("kept", 4)], []), ([records("gone", 7)], [DELETED]))
    with pytest.raises(LeaseLost):
        running._read_until_over(task, reader)
    assert (task.put.call_count, task.flush.call_count) == (2, 1)
    assert committed(running) == [("kept", 0, 5, "here")]
    assert running._outcome()["sink_positions"] == {("kept", 0): (5, "here")}
    assert running._progress.topics.rest() == {"kept", "gone"}


def test_a_last_commit_that_fails_does_not_hide_what_the_reader_said(reads: Any) -> None:
    running = loop()
    running._producer.commit.side_effect = OutcomeUnknown("?")  # type: ignore[attr-defined]  # a Mock
    denied = trouble(KafkaError.TOPIC_AUTHORIZATION_FAILED, "gone")
    reader = reads(([records("kept", 4)], [denied]))
    with pytest.raises(AccessDenied, match="gone"):
        running._read_until_over(Mock(), reader)
    assert running._outcome()["sink_positions"] == {}


def test_an_orphan_commits_nothing(reads: Any) -> None:
    running, task = loop(orphaned=True), Mock()
    reader = reads(([records("kept", 4)], [DELETED]))
    with pytest.raises(LeaseLost):
        running._read_until_over(task, reader)
    assert not task.flush.called
    assert not running._producer.commit.called  # type: ignore[attr-defined]  # a Mock
