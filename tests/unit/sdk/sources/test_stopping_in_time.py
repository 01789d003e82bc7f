"""A task that is stopped has closed its resources within 5 s, whatever its iterator does.

By a clock of its own: it moves by as much as the lease's thread is ready to wait, each time, as if
nothing that it waits for ever came.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from clocks import Clock
from penstock.sdk import (
    AbstractSourceTask,
    Backoff,
    BackoffConfig,
    ConfigDef,
    OffsetManagerEntry,
    OffsetManagerKey,
    OffsetReader,
    SchemaAndValue,
    SourceCommonConfig,
    UserError,
)
from penstock.sdk.sources import abstract_source_task, intake
from waiting import eventually

MOST = 5.0
KEY = OffsetManagerKey({"list": "one"})


class Waits:
    """Stands in for the module ``threading``: waits of the lease's thread move the clock."""

    def __init__(self, clock: Clock) -> None:
        self.threads: list[threading.Thread] = []
        lease, threads = threading.current_thread(), self.threads

        def waited(seconds: float | None) -> None:
            if threading.current_thread() is lease:
                assert seconds is not None, "the lease's thread would wait for ever"
                clock.now += seconds

        class Event(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                waited(timeout)
                return super().wait(timeout)

        class Thread(threading.Thread):
            def start(self) -> None:
                threads.append(self)
                super().start()

            def join(self, timeout: float | None = None) -> None:
                waited(timeout)
                super().join(0)

        self.module = SimpleNamespace(Event=Event, Thread=Thread)

    def end(self) -> None:
        for thread in self.threads:
            threading.Thread.join(thread)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """What an iterator that nothing else ends waits for; it is set when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture(autouse=True)
def waits(
    clock: Clock, released: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Waits]:
    made = Waits(clock)
    monkeypatch.setattr(intake, "threading", made.module)
    yield made
    released.set()
    made.end()


class Task(AbstractSourceTask):
    """Gives some records, and does then what ``then`` does."""

    def __init__(self, clock: Clock, then: Any, records: int = 2) -> None:
        self.clock, self.then, self.records = clock, then, records
        self.closed = threading.Event()
        self.there = threading.Event()
        self.closed_at = 0.0

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        return SourceCommonConfig(ConfigDef(), props)

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
        entry = OffsetManagerEntry(KEY)
        for number in range(self.records):
            entry.increment_record_count()
            yield entry.source_record("t", None, SchemaAndValue(None, number))
        self.there.set()
        self.then(self, backoff_config)

    def close_resources(self) -> None:
        self.closed_at = self.clock.now
        self.closed.set()


def values(polled: Any) -> list[Any]:
    return [record.value for record in polled or ()]


def stopped(task: Task) -> list[Any]:
    """What is still to be produced when a busy task is stopped as a lease does it."""
    task.start({"max.poll.records": "4"}, OffsetReader())
    eventually(task.there.is_set)
    begun = task.clock.now
    task.poll()
    rest = [value for part in task.finish() for value in values(part)]
    task.stop()
    assert task.closed_at - begun <= MOST
    assert task.clock.now - begun <= MOST
    return rest


def until_closed(task: Task, _: BackoffConfig) -> None:
    task.closed.wait()


def long_pauses(_: Task, config: BackoffConfig) -> None:
    backoff = Backoff(BackoffConfig(first_delay=5.0, stopping=config.stopping))
    while backoff.delay():
        pass


def refusal(_: Task, __: BackoffConfig) -> None:
    raise UserError("the bucket is gone")


@pytest.mark.parametrize("then", [until_closed, long_pauses, refusal])
def test_it_is_closed_in_time(then: Any, clock: Clock) -> None:
    stopped(Task(clock, then))


def test_also_if_the_iterator_never_returns(clock: Clock, released: threading.Event) -> None:
    def never(*_: Any) -> None:
        released.wait()

    stopped(Task(clock, never))


def test_also_if_there_is_much_to_produce_first(clock: Clock, released: threading.Event) -> None:
    """Of what the iterator gave, nothing is left out for the sake of time."""

    def blocked(*_: Any) -> None:
        released.wait()

    task = Task(clock, blocked, records=7)
    assert stopped(task) == [4, 5, 6]


def test_an_iterator_on_the_leases_own_thread_has_nothing_to_wait_for(clock: Clock) -> None:
    class Prompt(Task):
        iterator_is_prompt = True

    task = Prompt(clock, lambda *_: None)
    task.start({"max.poll.records": "4"}, OffsetReader())
    begun = clock.now
    assert values(task.poll()) == [0, 1]
    assert list(task.finish()) == []
    task.stop()
    assert task.closed_at == begun


def test_the_clock_does_notice_a_wait_that_is_too_long(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abstract_source_task, "LAST_PULL", MOST + 1)
    with pytest.raises(AssertionError):
        stopped(Task(clock, until_closed))
