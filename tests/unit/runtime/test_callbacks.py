"""Calls into connectors that take too long."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from penstock.runtime import callbacks
from penstock.runtime.callbacks import CallbackHangs, Callbacks, contained


def test_a_call_answers_and_raises_as_if_made_here() -> None:
    calls = Callbacks()
    assert calls.call("a", "adding", sum, [1, 2]) == 3
    for error in (ValueError("no"), TimeoutError("its own")):

        def raising(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error), match=str(error)):
            calls.call("a", "raising", raising)
    assert calls.call("a", "adding", sum, [1, 2]) == 3


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_what_would_end_the_thread_that_calls_is_an_error_as_any(raised: BaseException) -> None:
    def raising() -> None:
        raise raised

    calls = Callbacks()
    for call in (lambda: calls.call("a", "raising", raising), lambda: contained(raising)):
        with pytest.raises(RuntimeError, match=f"it raised {type(raised).__name__}") as caught:
            call()
        assert caught.value.__cause__ is raised


class TooLate(Future[Any]):
    """Times out at the very moment at which the answer comes."""

    def result(self, timeout: float | None = None) -> Any:
        answer = super().result(20)
        if timeout is not None:
            raise TimeoutError
        return answer


def test_an_answer_that_comes_at_the_last_moment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "Future", TooLate)
    assert Callbacks().call("a", "adding", sum, [1, 2]) == 3


def test_a_call_that_hangs_is_left_behind_and_no_other_made() -> None:
    calls, release = Callbacks(), threading.Event()
    with pytest.raises(CallbackHangs, match="waiting: callback does not return"):
        calls.call("a", "waiting", release.wait, seconds=0.05)
    with pytest.raises(CallbackHangs):
        calls.call("a", "adding", sum, [1, 2])
    assert calls.call("b", "adding", sum, [1, 2]) == 3
    release.set()
    while True:
        try:
            assert calls.call("a", "adding", sum, [1, 2]) == 3
            break
        except CallbackHangs:
            continue


def test_watched_calls_are_given_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, given_up = Callbacks(), list[CallbackHangs]()
    calls.begin("a", "looking", given_up.append)
    calls.give_up_overdue()
    assert given_up == []
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", -1.0)
    calls.give_up_overdue()
    calls.give_up_overdue()
    assert len(given_up) == 1
    calls.end("a")
    calls.begin("a", "looking")
