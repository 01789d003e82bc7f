"""Leases that sleep until their source has something new."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.engine.lease import naps
from penstock.engine.lease.heartbeats import STUCK_SECONDS, Heartbeat
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
    eventually(lambda: not watchman.at_work)


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


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_what_would_end_the_thread_is_the_error_of_that_lease_alone(
    ending: type[BaseException],
) -> None:
    watchman, other, raised = Watchman(), Source(), list[BaseException]()

    def fails() -> bool:
        raise ending("on request")

    def sleep() -> None:
        try:
            watchman.nap(fails, threading.Event(), FOREVER)
        except BaseException as error:  # noqa: BLE001 (which one is the point)
            raised.append(error)

    sleeper = asleep(lambda: watchman.nap(other.has_news, threading.Event(), FOREVER))
    failing = asleep(sleep)
    failing.join(5)
    assert [type(error) for error in raised] == [ending]
    other.news = True
    sleeper.join(5)
    assert not sleeper.is_alive()


def test_a_question_that_is_not_answered_keeps_no_other_lease_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(naps, "LATE", 0.0)
    watchman, other = Watchman(), Source()
    asked, answer = threading.Event(), threading.Event()

    def hangs() -> bool:
        asked.set()
        return answer.wait(FOREVER)

    bell = threading.Event()
    stuck = asleep(lambda: watchman.nap(hangs, bell, FOREVER))
    assert asked.wait(5)
    bell.set()
    sleeper = asleep(lambda: watchman.nap(other.has_news, threading.Event(), FOREVER))
    eventually(lambda: other.asked > 2)
    assert stuck.is_alive()  # its task is still being called
    other.news = True
    sleeper.join(5)
    answer.set()
    stuck.join(5)
    assert not sleeper.is_alive()
    assert not stuck.is_alive()
    eventually(lambda: not [each for each in threading.enumerate() if each.name == "watchman"])


def test_where_a_question_hangs_is_told() -> None:
    heartbeat, asked, answer = Heartbeat(), threading.Event(), threading.Event()
    monotonic = time.monotonic()

    def unanswered_question() -> bool:
        asked.set()
        return answer.wait(FOREVER)

    def sleep() -> None:
        heartbeat.runs_here()
        heartbeat.nap(unanswered_question, FOREVER)

    sleeper = asleep(sleep)
    assert asked.wait(5)
    heartbeat.progress.last_step = monotonic - 2 * STUCK_SECONDS
    assert "unanswered_question" in heartbeat.tell(1)["stuck"]
    answer.set()
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
