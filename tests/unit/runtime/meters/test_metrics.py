"""Meters: what leases tell with beats and reports, added up, and what of it is of late."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clocks import Clock
from penstock.engine.lease.lease import End, Report
from penstock.engine.lease.tally import Tally
from penstock.runtime.meters.metrics import ConnectorMeter, Metrics, TaskMeter


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def meter(clock: Clock) -> ConnectorMeter:
    return Metrics(clock).of("orders")


def lease_of(lease: str, task: int = 0) -> Any:
    """A lease as far as a meter looks at it."""
    return SimpleNamespace(lease_id=lease, task=task)


def told(tally: Tally, active: int = 0) -> dict[str, Any]:
    return {"tally": tally.tell(), "active": active}


def report(lease: str, tally: Tally, end: End = End.DONE, task: int = 0) -> Report:
    return Report(task, lease, end, tally=tally)


def test_beats_and_the_report_of_a_lease_count_once(meter: ConnectorMeter) -> None:
    lease = lease_of("a")
    meter.begin(lease)
    meter.beat(lease, told(Tally(records=10, taken=12), active=2))
    task = meter.task(0)
    assert (task.total.records, task.active) == (10, 2)
    meter.beat(lease, told(Tally(records=15, taken=15)))
    task.end(report("a", Tally(records=20, taken=20)))
    assert (task.total.records, task.total.taken, task.active) == (20, 20, 0)
    assert task.ends[End.DONE] == 1
    assert meter.turns == 1


def test_leases_one_after_the_other_are_added_up(meter: ConnectorMeter) -> None:
    for lease in ("a", "b"):
        meter.begin(lease_of(lease))
        meter.task(0).end(report(lease, Tally(records=7, payload_bytes=70)))
    assert (meter.task(0).total.records, meter.task(0).total.payload_bytes) == (14, 140)


def test_a_beat_that_comes_too_late_counts_nothing(meter: ConnectorMeter) -> None:
    before = lease_of("a")
    meter.begin(before)
    meter.task(0).end(report("a", Tally(records=5)))
    meter.beat(before, told(Tally(records=4)))
    assert meter.task(0).total.records == 5
    meter.begin(lease_of("b"))
    meter.beat(before, told(Tally(records=6)))
    assert meter.task(0).total.records == 5


def test_a_lost_lease_keeps_what_its_beats_said(meter: ConnectorMeter) -> None:
    lease = lease_of("b", 1)
    meter.begin(lease)
    meter.beat(lease, told(Tally(records=3), active=9))
    meter.broken(lease)
    assert (meter.task(1).total.records, meter.task(1).active) == (3, 0)
    assert meter.broken_turns == 1


def test_rates_are_those_of_the_last_minute(clock: Clock, meter: ConnectorMeter) -> None:
    task = meter.task(0)
    beat(task, Tally(records=600))
    clock.now += 30
    beat(task, Tally(records=900))
    assert minute(task) == (900, 30.0)
    clock.now += 31
    assert minute(task) == (300, 60.0)
    clock.now += 60
    assert minute(task) == (0, 60.0)
    assert task.total.records == 900


def beat(task: TaskMeter, tally: Tally) -> None:
    if not task.total.records:
        task.begin("a")
    task.beat("a", tally, 0)


def minute(task: TaskMeter) -> tuple[int, float]:
    tally, seconds = task.last_minute()
    return tally.records, seconds


def test_beats_in_quick_succession_share_a_bucket(clock: Clock, meter: ConnectorMeter) -> None:
    task = meter.task(0)
    task.begin("a")
    for number in range(1, 5001):
        clock.now += 0.01
        task.beat("a", Tally(records=number), 0)
    assert minute(task)[0] == 5000
    assert len(task._window._buckets) <= 60


def test_peaks_are_of_late_and_sums_are_for_ever(clock: Clock, meter: ConnectorMeter) -> None:
    lease, task = Tally(), meter.task(0)
    task.begin("a")
    lease.count_batch(500, 0.2)
    lease.count_commit(500, 5000, 0.05)
    task.beat("a", Tally(**lease.tell()), 0)
    clock.now += 61
    lease.count_batch(3, 0.01)
    lease.count_commit(3, 30, 0.02)
    task.beat("a", Tally(**lease.tell()), 0)
    late, _ = task.last_minute()
    assert (late.largest_batch, late.longest_batch) == (3, 0.01)
    assert (late.largest_transaction, late.longest_commit) == (3, 0.02)
    assert (late.batches, late.transactions) == (1, 1)
    assert (task.total.batches, task.total.records) == (2, 503)
    assert task.total.commit_seconds == pytest.approx(0.07)


def test_errors_are_dated(meter: ConnectorMeter) -> None:
    task = meter.task(0)
    task.begin("a")
    task.beat("a", Tally(records=1), 0)
    assert not dated(task)
    task.end(report("a", Tally(records=1), End.FAILED))
    assert dated(task)
    assert task.ends[End.FAILED] == 1
    skipping = meter.task(1)
    skipping.begin("b")
    skipping.beat("b", Tally(bad_records=1), 0)
    assert dated(skipping)


def dated(task: TaskMeter) -> bool:
    return task.last_error_ms is not None


def test_deleted_connectors_are_forgotten(clock: Clock) -> None:
    metrics = Metrics(clock)
    metrics.of("stays").looks = 1
    metrics.of("goes").looks = 1
    metrics.prune(lambda: ["stays"])
    assert (metrics.of("stays").looks, metrics.of("goes").looks) == (1, 0)
