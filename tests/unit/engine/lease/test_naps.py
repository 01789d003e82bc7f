"""Leases that sleep until their source has something new."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.naps import Watchman
from waiting import eventually

FOREVER = 60.0


class Source:
    """What a lease sleeps over."""

    def __init__(self) -> None:
        self.news = False
        self.asked = 0
        self.threads: set[str] = set()

    def has_news(self) -> bool:
        self.asked += 1
        self.threads.add(threading.current_thread().name)
        return self.news


def asleep(nap: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=nap)
    thread.start()
    return thread


def test_it_sleeps_until_there_is_something_new() -> None:
    watchman, source = Watchman(), Source()
    sleeper = asleep(lambda: watchman.nap(source.has_news, threading.Event(), FOREVER))
    eventually(lambda: source.asked > 2)
    assert sleeper.is_alive()
    source.news = True
    sleeper.join(5)
    assert not sleeper.is_alive()


def test_one_thread_asks_for_all_and_ends_when_nobody_sleeps() -> None:
    watchman, sources = Watchman(), [Source() for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        for source in sources:
            pool.submit(watchman.nap, source.has_news, threading.Event(), FOREVER)
        eventually(lambda: all(source.asked for source in sources))
        for source in sources:
            source.news = True
    assert set().union(*(source.threads for source in sources)) == {"watchman"}
    eventually(lambda: not watchman._at_work)


def test_it_is_asked_no_more_once_awake() -> None:
    watchman, source, bell = Watchman(), Source(), threading.Event()
    bell.set()
    watchman.nap(source.has_news, bell, FOREVER)
    before = source.asked
    other = Source()
    sleeper = asleep(lambda: watchman.nap(other.has_news, threading.Event(), FOREVER))
    eventually(lambda: other.asked > 2)
    other.news = True
    sleeper.join(5)
    assert source.asked == before


def test_a_question_that_fails_wakes_it() -> None:
    def fails() -> bool:
        raise OSError("no such folder")

    sleeper = asleep(lambda: Watchman().nap(fails, threading.Event(), FOREVER))
    sleeper.join(5)
    assert not sleeper.is_alive()


@pytest.mark.parametrize("orphan", [True, False])
def test_who_is_told_to_end_wakes(*, orphan: bool) -> None:
    heartbeat, source = Heartbeat(), Source()
    sleeper = asleep(lambda: heartbeat.nap(source.has_news, FOREVER))
    eventually(lambda: source.asked > 0)
    if orphan:
        heartbeat.orphan()
    else:
        heartbeat.finish.set()
    sleeper.join(5)
    assert not sleeper.is_alive()


def test_who_was_told_to_finish_does_not_fall_asleep() -> None:
    heartbeat, source = Heartbeat(), Source()
    heartbeat.finish.set()
    heartbeat.nap(source.has_news, FOREVER)
    assert source.asked == 0


def test_who_is_woken_by_the_source_need_not_be_asked() -> None:
    heartbeat, source, arranged = Heartbeat(), Source(), threading.Event()
    wakes: list[Callable[[], None]] = []

    def wake_on_news(wake: Callable[[], None]) -> bool:
        wakes.append(wake)
        arranged.set()
        return True

    sleeper = asleep(lambda: heartbeat.nap(source.has_news, FOREVER, wake_on_news))
    assert arranged.wait(5)
    wakes[0]()
    sleeper.join(5)
    assert not sleeper.is_alive()
    assert source.asked == 0


def test_where_that_cannot_be_arranged_it_is_asked() -> None:
    heartbeat, source = Heartbeat(), Source()
    source.news = True
    heartbeat.nap(source.has_news, FOREVER, lambda _wake: False)
    assert source.asked
