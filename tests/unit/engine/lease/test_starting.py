"""Leases of one process begin a few at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.starting import Door
from waiting import eventually


def enter(door: Door, inside: Callable[[], object], count: int) -> list[threading.Thread]:
    def run() -> None:
        with door.passing(Heartbeat()):
            inside()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_so_many_at_once_and_all_in_the_end() -> None:
    door, go = Door(2, hold_seconds=60), threading.Semaphore(0)
    entered: list[float] = []

    def inside() -> None:
        entered.append(time.monotonic())
        go.acquire()

    threads = enter(door, inside, 5)
    eventually(lambda: len(entered) == 2, what="the first two")
    time.sleep(0.3)
    assert len(entered) == 2
    go.release()
    eventually(lambda: len(entered) == 3, what="a third, for the one that has left")
    go.release(4)
    for thread in threads:
        thread.join()
    assert len(entered) == 5


def test_who_stays_long_keeps_nobody_out() -> None:
    door, go = Door(1, hold_seconds=0.1), threading.Semaphore(0)
    entered: list[float] = []

    def inside() -> None:
        entered.append(time.monotonic())
        go.acquire()

    threads = enter(door, inside, 3)
    eventually(lambda: len(entered) == 3, what="all, although nobody has left")
    go.release(3)
    for thread in threads:
        thread.join()


def test_one_that_is_no_longer_wanted_waits_no_longer() -> None:
    door, heartbeat, go = Door(1, hold_seconds=60), Heartbeat(), threading.Event()
    (first,) = enter(door, go.wait, 1)
    heartbeat.orphan()
    with pytest.raises(Orphaned), door.passing(heartbeat):
        pass
    go.set()
    first.join()
