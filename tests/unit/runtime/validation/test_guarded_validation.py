"""Validations that do not return."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from penstock.runtime import callbacks
from penstock.runtime.errors import BadRequest, InternalError
from penstock.runtime.validation.guarded_validation import MOST_LEFT_BEHIND, GuardedValidator
from penstock.runtime.validation.validation import Validated, Validator
from waiting import eventually

ANSWER = cast(Validated, object())


class Hanging:
    """Answers for every class but ``Slow``, and for that once it is released."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.calls = 0

    def validate(self, config: Mapping[str, str | None]) -> Validated:
        if config["connector.class"] == "Slow":
            self.calls += 1
            self.release.wait(30)
        if config["connector.class"] == "Wrong":
            raise BadRequest("no such class")
        return ANSWER


def test_what_hangs_is_refused_and_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.1)
    hanging = Hanging()
    guarded = GuardedValidator(cast(Validator, hanging))
    slow: dict[str, str | None] = {"connector.class": "Slow"}

    def refused(_: int = 0) -> str:
        with pytest.raises(InternalError) as caught:
            guarded.validate(slow)
        return str(caught.value)

    with ThreadPoolExecutor(MOST_LEFT_BEHIND) as pool:
        messages = list(pool.map(refused, range(MOST_LEFT_BEHIND)))
    assert all("callback does not return" in message for message in messages)
    assert "earlier ones still run" in refused()
    eventually(lambda: hanging.calls == MOST_LEFT_BEHIND, within=20, what="the calls")
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 20.0)
    assert guarded.validate({"connector.class": "Quick"}) is ANSWER
    with pytest.raises(BadRequest, match="no such class"):
        guarded.validate({"connector.class": "Wrong"})
    hanging.release.set()
    eventually(lambda: _answers(guarded, slow), within=20, what="an answer")


def _answers(guarded: GuardedValidator, config: Mapping[str, str | None]) -> bool:
    try:
        return guarded.validate(config) is ANSWER
    except InternalError:
        return False
