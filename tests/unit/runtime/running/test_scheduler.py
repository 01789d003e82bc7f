"""Looks and turns, given to runners that only record them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from penstock.runtime import callbacks
from penstock.runtime.callbacks import CallbackHangs
from penstock.runtime.running.scheduler import LOOK_THREADS, REST, TURN, Next, Scheduler
from waiting import eventually

TURNS = 2


class Recorder:
    """A runner whose looks and turns do what the test says, and are counted."""

    def __init__(
        self, look: Callable[[], Next] = lambda: REST, turn: Callable[[], Next] = lambda: REST
    ) -> None:
        self.name = "recorder"
        self.looks = 0
        self.turns = 0
        self.together = 0
        self._inside = 0
        self._lock = threading.Lock()
        self._look = look
        self._turn = turn

    def look(self) -> Next:
        self.looks += 1
        return self._alone(self._look)

    def turn(self) -> Next:
        self.turns += 1
        return self._alone(self._turn)

    def _alone(self, step: Callable[[], Next]) -> Next:
        with self._lock:
            self._inside += 1
            self.together = max(self.together, self._inside)
        try:
            return step()
        finally:
            with self._lock:
                self._inside -= 1


class Gate:
    """A step that waits until the test lets it go on."""

    def __init__(self, then: Next = REST) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()
        self.then = then

    def __call__(self) -> Next:
        self.entered.set()
        assert self.open.wait(20)
        return self.then


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    running = Scheduler(TURNS)
    running.start()
    yield running
    running.stop()


def quiet(probe: Callable[[], int], seconds: float = 0.3) -> bool:
    """Whether nothing changes for a while."""
    before = probe()
    time.sleep(seconds)
    return probe() == before


def test_a_runner_that_is_woken_is_looked_at_once(scheduler: Scheduler) -> None:
    runner = Recorder()
    scheduler.wake(runner)
    eventually(lambda: runner.looks == 1, within=20)
    assert quiet(lambda: runner.looks)
    assert runner.turns == 0


def test_a_look_that_finds_work_is_followed_by_a_turn(scheduler: Scheduler) -> None:
    runner = Recorder(look=lambda: TURN)
    scheduler.wake(runner)
    eventually(lambda: runner.turns == 1, within=20)
    assert quiet(lambda: runner.looks)


def test_a_delay_is_a_look_after_that_time(scheduler: Scheduler) -> None:
    runner = Recorder(look=lambda: Next(delay=0.01))
    scheduler.wake(runner)
    eventually(lambda: runner.looks >= 5, within=20)


def test_the_sooner_of_two_wakings_counts(scheduler: Scheduler) -> None:
    runner = Recorder()
    scheduler.wake(runner, 60.0)
    assert quiet(lambda: runner.looks, 0.1)
    scheduler.wake(runner, 0.05)
    scheduler.wake(runner, 60.0)
    eventually(lambda: runner.looks == 1, within=20)
    assert quiet(lambda: runner.looks)


def test_never_two_at_once_for_a_runner(scheduler: Scheduler) -> None:
    def work() -> Next:
        time.sleep(0.002)
        return Next(delay=0.0)

    runner = Recorder(look=lambda: TURN, turn=work)
    began = time.monotonic()
    while (passed := time.monotonic() - began) < 1.0 or (runner.turns <= 10 and passed < 60.0):
        scheduler.wake(runner)
        scheduler.wake(runner, 0.001)
    scheduler.forget(runner)
    assert runner.turns > 10
    assert runner.together == 1


@pytest.mark.parametrize("step", ["look", "turn"])
def test_waking_a_busy_runner_is_not_lost(scheduler: Scheduler, step: str) -> None:
    gate = Gate()
    runner = Recorder(look=gate) if step == "look" else Recorder(look=lambda: TURN, turn=gate)
    scheduler.wake(runner)
    assert gate.entered.wait(20)
    scheduler.wake(runner)
    assert quiet(lambda: runner.looks, 0.1)
    gate.open.set()
    eventually(lambda: runner.looks == 2, within=20)


def test_a_later_waking_of_a_busy_runner_yields_to_its_own_plan(scheduler: Scheduler) -> None:
    gate = Gate(then=Next(delay=0.0))
    runner = Recorder(look=gate)
    scheduler.wake(runner)
    assert gate.entered.wait(20)
    scheduler.wake(runner, 60.0)
    gate.open.set()
    eventually(lambda: runner.looks >= 2, within=20)


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
def test_a_stumble_ends_neither_its_own_loop_nor_anothers(
    scheduler: Scheduler, caplog: pytest.LogCaptureFixture, error: type[BaseException]
) -> None:
    def stumble() -> Next:
        raise error("a defect")

    in_look, in_turn = Recorder(look=stumble), Recorder(look=lambda: TURN, turn=stumble)
    other = Recorder(look=lambda: Next(delay=0.01))
    for runner in (in_look, in_turn, other):
        scheduler.wake(runner)
    eventually(lambda: in_look.looks >= 2 and in_turn.turns >= 2, within=20)
    seen = other.looks
    eventually(lambda: other.looks > seen, within=20)
    assert "an unexpected error in the connector's loop; trying again" in caplog.text
    assert "a defect" in caplog.text


def test_a_runner_that_is_forgotten_gets_no_more_looks(scheduler: Scheduler) -> None:
    runner = Recorder(look=lambda: Next(delay=0.05))
    scheduler.wake(runner)
    eventually(lambda: runner.looks >= 2, within=20)
    scheduler.forget(runner)
    eventually(lambda: quiet(lambda: runner.looks), what="the end of looks")


@pytest.mark.parametrize("woken", [False, True])
def test_a_runner_that_is_forgotten_while_busy_gets_no_more_looks(
    scheduler: Scheduler, woken: bool
) -> None:
    gate = Gate(then=Next(delay=0.0))
    runner = Recorder(look=gate)
    scheduler.wake(runner)
    assert gate.entered.wait(20)
    if woken:
        scheduler.wake(runner)
    scheduler.forget(runner)
    gate.open.set()
    assert quiet(lambda: runner.looks)


def test_looks_do_not_wait_for_turns(scheduler: Scheduler) -> None:
    gates = [Gate() for _ in range(TURNS + 3)]
    for gate in gates:
        scheduler.wake(Recorder(look=lambda: TURN, turn=gate))
    eventually(lambda: sum(gate.entered.is_set() for gate in gates) == TURNS, within=20)
    idle = Recorder()
    scheduler.wake(idle)
    eventually(lambda: idle.looks == 1, within=20)
    for gate in gates:
        gate.open.set()
    eventually(lambda: all(gate.entered.is_set() for gate in gates), within=20)


def test_looks_do_not_wait_for_looks_that_hang(scheduler: Scheduler) -> None:
    gates = [Gate() for _ in range(LOOK_THREADS - 1)]
    for gate in gates:
        scheduler.wake(Recorder(look=gate))
    eventually(lambda: all(gate.entered.is_set() for gate in gates), within=20)
    idle = Recorder(look=lambda: Next(delay=0.01))
    scheduler.wake(idle)
    eventually(lambda: idle.looks >= 5, within=20)
    for gate in gates:
        gate.open.set()


def test_many_slow_looks_are_made_side_by_side(scheduler: Scheduler) -> None:
    meeting = threading.Barrier(LOOK_THREADS)

    def meet() -> Next:
        meeting.wait(20)
        return REST

    runners = [Recorder(look=meet) for _ in range(LOOK_THREADS)]
    for runner in runners:
        scheduler.wake(runner)
    eventually(lambda: all(runner.looks == 1 for runner in runners), within=20)
    assert not meeting.broken


def test_nothing_is_served_after_stop() -> None:
    scheduler = Scheduler(TURNS)
    scheduler.start()
    runner = Recorder(look=lambda: Next(delay=0.0))
    scheduler.wake(runner)
    eventually(lambda: runner.looks >= 3, within=20)
    scheduler.stop()
    for thread in scheduler._lookers:
        thread.join(20)
        assert not thread.is_alive()
    seen = runner.looks
    scheduler.wake(runner)
    assert quiet(lambda: runner.looks, 0.1)
    assert runner.looks == seen


def test_looks_that_do_not_end_keep_nobody_else_waiting(scheduler: Scheduler) -> None:
    gates = [Gate() for _ in range(2 * LOOK_THREADS)]
    for gate in gates:
        scheduler.wake(Recorder(look=gate))
    try:
        for gate in gates:
            assert gate.entered.wait(20)
        other = Recorder()
        scheduler.wake(other)
        eventually(lambda: other.looks == 1, within=20)
    finally:
        for gate in gates:
            gate.open.set()


def test_a_call_that_cannot_be_given_up_keeps_no_other_from_it(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, given_up = threading.Event(), threading.Event()

    def refuse(_: CallbackHangs) -> None:
        refused.set()
        raise RuntimeError("no")

    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", -1.0)
    scheduler.callbacks.begin("a", "looking", refuse)
    assert refused.wait(20)
    scheduler.callbacks.begin("b", "looking", lambda _: given_up.set())
    assert given_up.wait(20)
