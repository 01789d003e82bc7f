"""When a source's transaction ends, with a producer that only keeps a list."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Limits, Membership, SourceLease
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.clients import Connection
from penstock.kafka.transactions import Transactions
from penstock.sdk import OffsetReader, Schema, SourceRecord, SourceTask


class Some(SourceTask):
    """Has three records, then nothing more."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.left = 3

    def poll(self) -> list[SourceRecord] | None:
        if not self.left:
            return None
        self.left -= 1
        # With a header, records are produced one by one.
        more: dict[str, Any] = {"value_schema": Schema.string(), "headers": [("h", b"")]}
        return [SourceRecord({}, {"left": self.left}, "t", str(self.left), **more)]


@dataclass
class Ledger:
    """Stands in for a producer: when it was given something, and when that was committed."""

    polled: list[float] = field(default_factory=list)
    """When the task was asked for records."""
    told: float = 0.0
    """When the lease was told to finish."""
    sent: list[float] = field(default_factory=list)
    commits: list[tuple[float, int]] = field(default_factory=list)
    raw: None = None
    """No client's own producer: records are sent one by one."""

    def begin(self) -> None:
        """Nothing to do."""

    def serve(self) -> None:
        """Nothing to do."""

    def send(self, topic: str, value: bytes, key: bytes, **_: object) -> None:
        self.sent.append(time.monotonic())

    def commit(self, offsets: list[Any], groups: list[Any]) -> None:
        assert len(offsets) == 1
        self.commits.append((time.monotonic(), len(self.sent)))


def run(limits: Limits, over: Callable[[Ledger, int], bool]) -> tuple[Ledger, float | None]:
    """What the producer was told until the lease was over, and since when the lease was dry.

    The lease is told to finish at the first poll without records, the n-th of these, at which
    ``over`` says so.
    """
    heartbeat, ledger = Heartbeat(), Ledger()

    class Watched(Some):
        dry_polls = 0

        def poll(self) -> list[SourceRecord] | None:
            ledger.polled.append(time.monotonic())
            records = super().poll()
            self.dry_polls += records is None
            if records is None and over(ledger, self.dry_polls):
                ledger.told = time.monotonic()
                heartbeat.finish.set()
            return records

    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease = SourceLease(
        lease_id="lease",
        previous=None,
        connector="orders",
        task=0,
        config={},
        pipeline=Pipeline(key, value),
        connection=Connection("nowhere:1"),
        transactional_id="cluster-orders-0",
        membership=Membership(b"", "workers"),
        limits=limits,
        secrets=(),
        producer_settings={},
        task_class=Watched,
        offsets_topic="offsets",
        positions=(),
    )
    SourceLoop(lease, heartbeat)._move_records(cast(Transactions, ledger))
    return ledger, heartbeat.progress.dry_since


def test_by_default_a_dry_source_is_committed_at_once() -> None:
    ledger, dry_since = run(Limits(transaction_seconds=60), lambda _, dry: dry == 2)
    [(moment, sent)] = ledger.commits
    assert sent == 3
    assert dry_since is not None
    assert dry_since <= moment <= ledger.told


def test_an_interval_is_waited_out() -> None:
    limits = Limits(transaction_seconds=2.0, commit_when_dry=False)
    ledger, dry_since = run(limits, lambda ledger, _: bool(ledger.commits))
    [(moment, sent)] = ledger.commits
    assert sent == 3
    assert moment - ledger.polled[0] >= limits.transaction_seconds
    # Only now may the worker end the lease.
    assert dry_since is not None
    assert dry_since >= moment


@pytest.mark.parametrize("full", [{"transaction_records": 2}, {"transaction_bytes": 2}])
def test_a_full_transaction_does_not_wait(full: dict[str, int]) -> None:
    limits = Limits(transaction_seconds=60, commit_when_dry=False, **full)
    ledger, _ = run(limits, lambda _, dry: dry == 1)
    first = ledger.commits[0]
    assert first[1] < 3
    assert first[0] <= ledger.told
    assert ledger.commits[-1][1] == 3


def test_what_waits_is_committed_when_the_lease_is_over() -> None:
    limits = Limits(transaction_seconds=60, commit_when_dry=False)
    ledger, dry_since = run(limits, lambda _, dry: dry == 3)
    [(moment, sent)] = ledger.commits
    assert sent == 3
    assert moment >= ledger.told
    assert dry_since is None
