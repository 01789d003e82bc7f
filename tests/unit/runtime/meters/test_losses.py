"""Losses in a row: counted, followed by growing pauses, told of, and ended by progress."""

from __future__ import annotations

import itertools

import pytest

from clocks import Clock
from penstock.engine.carriers.carrier import Cause
from penstock.engine.lease.lease import End, Report
from penstock.engine.lease.lost_leases import Interrupted, Orphaned
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.kafka.errors import (
    BrokerUnavailable,
    GenerationChanged,
    KafkaFault,
    LeaseLost,
    OutcomeUnknown,
    TransactionAborted,
)
from penstock.runtime.meters.loss_reasons import Reason, advice, loss_of, reason_for
from penstock.runtime.meters.losses import Losses
from penstock.runtime.meters.streaks import (
    FIRST_SILENCE,
    LONGEST_PAUSE,
    LONGEST_SILENCE,
    Streak,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def losses(clock: Clock) -> Losses:
    return Losses(clock, wall=lambda: 0.0)


def test_the_first_loss_goes_on_at_once_and_the_next_ever_later(losses: Losses) -> None:
    pauses = []
    for _ in range(12):
        losses.lost(0, Reason.FENCED)
        pauses.append(losses.pause([0]))
    assert pauses[:4] == pytest.approx([0.0, 0.1, 0.2, 0.4])
    assert pauses == sorted(pauses)
    assert pauses[-1] == pytest.approx(LONGEST_PAUSE)


def test_a_very_long_row_still_has_a_pause(losses: Losses) -> None:
    for _ in range(5000):
        losses.lost(0, Reason.FENCED)
    assert losses.pause([0]) == pytest.approx(LONGEST_PAUSE)
    assert losses.in_a_row(0) == 5000


def test_a_task_that_has_to_pause_keeps_no_other_back(losses: Losses, clock: Clock) -> None:
    losses.lost(0, Reason.FENCED)
    losses.lost(0, Reason.FENCED)
    assert losses.due([0, 1]) == [1]
    clock.now += 0.1
    assert losses.due([0, 1]) == [0, 1]


def test_progress_ends_a_row(losses: Losses) -> None:
    told = [losses.lost(0, Reason.FENCED) for _ in range(4)]
    assert told == [False, False, True, False]
    assert losses.progressed(0), "people were told of it"
    assert (losses.in_a_row(0), losses.pause([0]), losses.story(0)) == (0, 0.0, None)
    assert not losses.lost(0, Reason.FENCED)
    assert losses.pause([0]) == 0.0
    assert not losses.progressed(0), "nobody was told of a single one"


def test_two_losses_far_apart_are_told_of(losses: Losses, clock: Clock) -> None:
    assert not losses.lost(0, Reason.OUTCOME_UNKNOWN)
    clock.now += 11
    assert losses.lost(0, Reason.OUTCOME_UNKNOWN)
    assert losses.seconds(0) == 11


def test_the_story_says_since_when_how_often_why_and_what_to_do(losses: Losses) -> None:
    for _ in range(3):
        losses.lost(0, Reason.REBALANCED)
    losses.lost(0, Reason.FENCED, "LeaseLost: _FENCED: replaced")
    story = losses.story(0) or ""
    assert story.startswith("No progress since 1970-01-01 00:00:00 UTC: the last 4 leases")
    assert "fenced (LeaseLost: _FENCED: replaced)" in story
    assert advice(Reason.FENCED) in story
    assert losses.story(1) is None


def test_what_lasts_is_told_ever_less_often(clock: Clock) -> None:
    """Each telling is a record in the status topic, and a line in the log."""
    streak = Streak(1.0, clock=clock)
    told = []
    for second in range(7200):
        clock.now = second
        streak.add()
        if streak.worth_telling():
            told.append(second)
    gaps = [after - before for before, after in itertools.pairwise(told)]
    assert told[0] == 2
    assert gaps[0] == FIRST_SILENCE
    assert set(gaps[1:]) == {LONGEST_SILENCE}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (LeaseLost("_FENCED: Producer fenced by another instance"), Reason.FENCED),
        (LeaseLost("INVALID_PRODUCER_EPOCH: old"), Reason.FENCED),
        (GenerationChanged("ILLEGAL_GENERATION: Specified group generation"), Reason.REBALANCED),
        (LeaseLost("UNKNOWN_MEMBER_ID: Unknown member"), Reason.REBALANCED),
        (OutcomeUnknown("_FATAL: Unable to produce message"), Reason.FENCED),
        (OutcomeUnknown("_TIMED_OUT: no answer"), Reason.OUTCOME_UNKNOWN),
        (TransactionAborted("NOT_ENOUGH_REPLICAS: one is away"), Reason.TRANSACTION_ABORTED),
        (BrokerUnavailable("nobody answers"), Reason.BROKER_UNAVAILABLE),
        (Orphaned("the worker no longer answers heartbeats"), Reason.ORPHANED),
        (Interrupted("told to finish"), Reason.INTERRUPTED),
    ],
)
def test_the_reason_of_a_lost_lease(fault: KafkaFault, reason: Reason) -> None:
    assert ending_of(fault) is End.LOST
    assert loss_of(Report(0, "lease", ending_of(fault), trace=trace_of(fault))) is reason


def test_other_ends_are_no_losses() -> None:
    assert loss_of(Report(0, "lease", End.DONE)) is None
    assert loss_of(Report(0, "lease", End.FAILED, trace="LeaseLost: no")) is None


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (Cause.CRASHED, Reason.CRASHED),
        (Cause.SILENT, Reason.ORPHANED),
        (Cause.SPARK_LOST, Reason.SPARK_LOST),
        (Cause.EXECUTOR_LOST, Reason.EXECUTOR_LOST),
        (Cause.VANISHED, Reason.OTHER),
        (Cause.CONDEMNED, None),
        (Cause.CANCELLED, None),
    ],
)
def test_a_lease_without_a_report_is_lost_unless_we_ended_it(
    cause: Cause, reason: Reason | None
) -> None:
    assert reason_for(cause, hung=False) is reason
    assert reason_for(cause, hung=True) is Reason.EXPIRED


def test_every_reason_comes_with_advice() -> None:
    assert all(advice(reason).endswith(".") for reason in Reason)
