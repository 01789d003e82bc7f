"""Conversions and transforms that are tried again."""

from __future__ import annotations

import itertools
import logging
import time
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from penstock.engine.lease import retrying
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Tolerance
from penstock.engine.lease.lost_leases import Interrupted
from penstock.engine.lease.retrying import Waits, insisted, retried
from penstock.kafka.errors import LeaseLost
from penstock.runtime.config.tolerance import tolerance_of
from penstock.sdk.errors import RetriableError


class Stubborn:
    """Works at the last of some attempts."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.attempts = 0

    def __call__(self) -> str:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise RetriableError("not yet")
        return "done"


@pytest.fixture
def heartbeat() -> Heartbeat:
    """One that was never started: nobody says finish."""
    return Heartbeat()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.001)


def test_by_default_nothing_is_tried_again(heartbeat: Heartbeat) -> None:
    operation = Stubborn(1)
    with pytest.raises(RetriableError, match="not yet"):
        retried(operation, Tolerance(), heartbeat, Waits(heartbeat.progress))
    assert operation.attempts == 1


def test_until_it_works(heartbeat: Heartbeat) -> None:
    assert (
        retried(Stubborn(3), Tolerance(retry_seconds=30), heartbeat, Waits(heartbeat.progress))
        == "done"
    )


def test_until_the_time_is_up(heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count(step=0.5)  # each look at the clock is half a second later
    monkeypatch.setattr(retrying, "time", SimpleNamespace(monotonic=lambda: next(now)))
    operation = Stubborn(10**9)
    waits = Mock()
    with pytest.raises(RetriableError):
        retried(operation, Tolerance(retry_seconds=2.0, retry_delay_max=0.01), heartbeat, waits)
    assert operation.attempts == 4


def test_a_lease_that_is_told_to_finish_retries_no_more(heartbeat: Heartbeat) -> None:
    heartbeat.finish.set()
    with pytest.raises(LeaseLost, match="told to finish while retrying: not yet"):
        retried(Stubborn(5), Tolerance(retry_seconds=30), heartbeat, Waits(heartbeat.progress))


def test_what_a_config_says() -> None:
    assert tolerance_of({}) == Tolerance()
    assert tolerance_of({"errors.retry.timeout": "-1"}).retry_seconds == float("inf")
    config = {
        "errors.tolerance": "all",
        "errors.retry.timeout": "1500",
        "errors.retry.delay.max.ms": "200",
        "errors.log.enable": "true",
        "errors.log.include.messages": "TRUE",
        "errors.deadletterqueue.topic.name": "dead",
        "errors.deadletterqueue.topic.replication.factor": "2",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    assert tolerance_of(config) == Tolerance(
        all_errors=True,
        dead_letter_topic="dead",
        context_headers=True,
        dead_letter_replication=2,
        log_errors=True,
        log_messages=True,
        retry_seconds=1.5,
        retry_delay_max=0.2,
    )


def test_what_it_waits_for_is_told_at_once_and_once_a_minute(
    heartbeat: Heartbeat, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = Waits(heartbeat.progress)
    with caplog.at_level(logging.WARNING):
        retried(Stubborn(5), Tolerance(retry_seconds=30), heartbeat, waits)
        retried(Stubborn(5), Tolerance(retry_seconds=30), heartbeat, waits)
    told = "waiting, and trying again for 30 s (errors.retry.timeout): not yet"
    assert caplog.messages == [told]
    monkeypatch.setattr(waits, "_next", time.monotonic())
    with caplog.at_level(logging.WARNING):
        retried(Stubborn(1), Tolerance(retry_seconds=30), heartbeat, waits)
    assert caplog.messages == [told] * 2


def test_the_worker_is_told_what_it_waits_for_without_secrets(heartbeat: Heartbeat) -> None:
    waits = Waits(heartbeat.progress, ["hunter2"])
    assert heartbeat.tell(1)["awaits"] is None
    waits.note(RetriableError("no answer to hunter2"))
    assert heartbeat.tell(2)["awaits"] == "RetriableError: no answer to [hidden]"
    waits.over()
    assert heartbeat.tell(3)["awaits"] == ""


HOUR = 3600.0
"""Longer than any test: what waits so long waits for the end of something else."""


class Down:
    """Never works, and wants an hour before each attempt."""

    attempts = 0

    def __call__(self) -> None:
        self.attempts += 1
        raise RetriableError("the target is down", retry_after=HOUR)


def test_a_call_that_waits_for_its_target_ends_with_its_lease(heartbeat: Heartbeat) -> None:
    """Its worker would take it for one that hangs, and fail its task the second time."""
    down, waits = Down(), Waits(heartbeat.progress)
    with pytest.raises(Interrupted, match="told to finish while retrying: the target is down"):
        insisted(down, heartbeat, heartbeat.progress, waits, time.monotonic() + 0.05)
    assert down.attempts == 2, "once more at the end"
    assert heartbeat.progress.awaits == "RetriableError: the target is down"


def test_a_call_that_waits_for_its_target_hears_that_it_is_to_finish(heartbeat: Heartbeat) -> None:
    def finish() -> None:
        heartbeat.finish.set()
        raise RetriableError("the target is down", retry_after=HOUR)

    with pytest.raises(Interrupted):
        insisted(finish, heartbeat, heartbeat.progress, Waits(heartbeat.progress))


def test_a_conversion_that_is_tried_for_ever_ends_with_its_lease(heartbeat: Heartbeat) -> None:
    for_ever = Tolerance(retry_seconds=float("inf"))
    with pytest.raises(Interrupted, match="not yet"):
        retried(
            Stubborn(10**9),
            for_ever,
            heartbeat,
            Waits(heartbeat.progress),
            time.monotonic() + 0.05,
        )
