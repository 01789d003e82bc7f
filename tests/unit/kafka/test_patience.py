"""When it is worthwhile to wait for brokers."""

from __future__ import annotations

import math
import time

from penstock.kafka.patience import Patience, Waiting

NEVER = math.inf


def test_while_brokers_take_records_it_is() -> None:
    waiting = Waiting(Patience(stalled_seconds=0.0), 3, NEVER)
    assert waiting.worthwhile(2)
    assert waiting.worthwhile(1)
    time.sleep(0.001)
    assert not waiting.worthwhile(1)


def test_they_may_take_none_for_a_while() -> None:
    assert Waiting(Patience(stalled_seconds=60.0), 3, NEVER).worthwhile(3)


def test_it_is_not_once_the_transaction_has_run_out_of_time() -> None:
    assert not Waiting(Patience(), 3, time.monotonic() - 1).worthwhile(2)


def test_it_is_not_once_nobody_waits_any_more() -> None:
    assert not Waiting(Patience(given_up=lambda: True), 3, NEVER).worthwhile(2)


def test_each_time_it_is_somebody_hears_of_it() -> None:
    heard: list[str] = []
    waiting = Waiting(Patience(60.0, on_wait=lambda: heard.append("waiting")), 3, NEVER)
    assert waiting.worthwhile(3)
    assert waiting.worthwhile(3)
    assert len(heard) == 2
