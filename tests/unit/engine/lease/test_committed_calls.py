"""A source task is told what was committed, and a lease that ends produces what it read ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Progress
from penstock.engine.lease.lease import KeyedOffset, Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import LeaseLost
from penstock.sdk import (
    AbstractSourceTask,
    BackoffConfig,
    ConfigDef,
    OffsetManagerEntry,
    OffsetManagerKey,
    OffsetReader,
    Schema,
    SchemaAndValue,
    SourceCommonConfig,
    SourceRecord,
    SourceTask,
)

KEY = OffsetManagerKey({"list": "one"})
TEXT = Schema.string()


class Over:
    """Says that the lease is over once the task has been polled so often."""

    def __init__(self, polls: int) -> None:
        self.left = polls
        self.finish, self.orphaned, self.progress = Mock(), Mock(), Progress()
        self.standing, self.leases = Mock(return_value=None), Mock(return_value=1)
        self.orphaned.is_set.return_value = False
        self.prepared, self.closes = Mock(), Mock()

    @property
    def over(self) -> bool:
        self.left -= 1
        return self.left < 0


class Producer(Mock):
    """Keeps what was sent, and the offsets of each commit; may fail at one."""

    def __init__(self, fail_at: int | None = None, **more: Any) -> None:
        super().__init__(**more)
        self.raw = None  # no client's own producer: records are sent one by one
        self.sent: list[bytes] = []
        self.delivered: list[bytes] = []
        self.commits = 0
        self.fail_at = fail_at
        self.send = lambda topic, value, key, **_: self.sent.append(value)
        self.commit = self._commit

    def _commit(self, records: Iterable[Any], groups: Any) -> None:
        self.commits += 1
        if self.commits == self.fail_at:
            raise LeaseLost("killed between produce and commit")
        self.delivered += self.sent
        self.sent = []


def loop(
    task: type[SourceTask], polls: int, positions: tuple[KeyedOffset, ...] = (), **limits: Any
) -> tuple[SourceLoop, Over]:
    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease: Any = Mock(
        limits=Limits(**limits),
        tolerance=Tolerance(),
        pipeline=Pipeline(key, value),
        connector="orders",
        task_class=task,
        config={},
        positions=positions,
        partition_keys=(),
        topic_groups=(),
        offsets_topic="offsets",
        membership=Membership(b"", "workers"),
        pace=Pace(),
    )
    over = Over(polls)
    return SourceLoop(lease, over), over  # type: ignore[arg-type]  # stands in for a Heartbeat


class Telling(SourceTask):
    """One record a poll; what it hears is kept."""

    heard: list[str]

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        Telling.heard = ["start"]
        self.next = 0

    def poll(self) -> list[SourceRecord] | None:
        self.next += 1
        return [self.record(self.next)]

    def record(self, number: int) -> SourceRecord:
        headers = [("h", b"")]  # with a header, records are produced one by one
        return SourceRecord({}, {"next": number}, "t", str(number), TEXT, headers=headers)

    def committed(self, offsets: Any) -> None:
        [(partition, offset)] = offsets
        assert partition == {}
        Telling.heard.append(f"committed {offset['next']}")

    def finish(self) -> Iterator[list[SourceRecord]]:
        Telling.heard.append("finish")
        yield [self.record(self.next + 1)]
        yield [self.record(self.next + 2)]

    def stop(self) -> None:
        Telling.heard.append("stop")


def test_each_commit_is_told_in_order_and_the_last_before_stop() -> None:
    running, _ = loop(Telling, polls=3, transaction_records=1)
    running._move_records(producer := Producer())
    assert producer.delivered == [b"1", b"2", b"3", b"4", b"5"]
    assert Telling.heard == [
        "start", "committed 1", "committed 2", "finish", "committed 3", "committed 5", "stop",
    ]  # fmt: skip


def test_a_lease_says_that_it_closes_once_all_is_committed() -> None:
    running, over = loop(Telling, polls=1, transaction_seconds=1000.0)
    over.closes.side_effect = lambda: Telling.heard.append("closes")
    running._move_records(Producer())
    assert Telling.heard == ["start", "finish", "committed 3", "closes", "stop"]


def test_a_lease_whose_commit_fails_does_not_say_that_it_closes() -> None:
    running, over = loop(Telling, polls=1)
    with pytest.raises(LeaseLost):
        running._move_records(Producer(fail_at=1))
    over.closes.assert_not_called()


def test_what_a_task_read_ahead_is_in_the_last_commit() -> None:
    running, over = loop(Telling, polls=1, transaction_seconds=1000.0)
    running._move_records(producer := Producer())
    assert producer.delivered == [b"1", b"2", b"3"]
    assert over.progress.taken == 3
    [(_, _, offset)] = running._outcome()["positions"]
    assert offset == {"next": 3}


def test_a_commit_that_fails_is_not_told() -> None:
    running, _ = loop(Telling, polls=3, transaction_records=1)
    with pytest.raises(LeaseLost):
        running._move_records(Producer(fail_at=2))
    assert Telling.heard == ["start", "committed 1", "stop"]


class Busy(Telling):
    """Finds nothing, and says whether it is still looking."""

    def poll(self) -> None:
        return None

    def finish(self) -> Iterator[list[SourceRecord]]:
        return iter(())


@pytest.mark.parametrize("busy", [True, False])
def test_a_task_that_is_still_looking_is_not_dry(
    busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Busy, "busy", busy)
    running, over = loop(Busy, polls=1)
    running._move_records(Producer())
    assert (over.progress.dry_since is None) is busy


class Numbers(AbstractSourceTask):
    """The numbers to 20, each from the state of one entry."""

    iterator_is_prompt = True

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        return SourceCommonConfig(ConfigDef(), {**props, "max.poll.records": "3"})

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[SourceRecord]:
        entry = OffsetManagerEntry(KEY)
        entry = self.offset_manager.get_entry(KEY, entry.from_properties) or entry
        while entry.record_count < 20:
            entry.increment_record_count()
            value = SchemaAndValue(TEXT, str(entry.record_count))
            yield entry.source_record("t", None, value, headers=[("h", b"")])

    def close_resources(self) -> None:
        pass


@pytest.mark.parametrize("fail_at", [1, 2, 5])
def test_a_lease_killed_between_produce_and_commit_loses_and_repeats_nothing(fail_at: int) -> None:
    first, _ = loop(Numbers, polls=20, transaction_records=1)
    killed = Producer(fail_at=fail_at)
    with pytest.raises(LeaseLost):
        first._move_records(killed)
    assert killed.sent  # produced, and never committed
    positions = first._outcome()["positions"]
    second, _ = loop(Numbers, 20, positions, transaction_records=1)
    second._move_records(heir := Producer())
    delivered = killed.delivered + heir.delivered
    assert delivered == [str(number).encode() for number in range(1, 21)]
