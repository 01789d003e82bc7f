"""The clock of a cluster, told by answers that take their time."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.kafka import controller_look

AHEAD = 3600.0


class Quorum:
    """Answers at the very end of the times that its answers take, by a clock that is ahead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *takes: float) -> None:
        self.asked = 0
        self._now = 1_000_000.0
        self._takes = iter(takes)
        monkeypatch.setattr(controller_look, "time", SimpleNamespace(time=lambda: self._now))

    def describe_metadata_quorum(self) -> dict[str, Any]:
        self.asked += 1
        try:
            self._now += next(self._takes)
        except StopIteration:
            raise TimeoutError from None
        told = int((self._now + AHEAD) * 1000)
        voters = [{"replica_id": 1, "last_caught_up_timestamp": told}]
        return {"topics": [{"partitions": [{"leader_id": 1, "current_voters": voters}]}]}


def ahead(quorum: Quorum, seconds: float = 60.0) -> float | None:
    return controller_look._ahead(quorum, TimeoutError, seconds)


def test_a_quick_answer_is_believed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum = Quorum(monkeypatch, 0.25, 0.125)
    assert ahead(quorum) == AHEAD + 0.125
    assert quorum.asked == 1


def test_a_slow_answer_makes_it_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum = Quorum(monkeypatch, 3.0, 0.25, 0.125)
    assert ahead(quorum) == AHEAD + 0.125
    assert quorum.asked == 2


def test_of_slow_answers_the_quickest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum = Quorum(monkeypatch, 3.0, 1.0, *itertools.repeat(2.0, 20))
    assert ahead(quorum) == AHEAD + 0.5
    assert quorum.asked == controller_look.MOST_ANSWERS


def test_there_is_no_more_asking_than_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum = Quorum(monkeypatch, *itertools.repeat(4.0, 20))
    assert ahead(quorum, seconds=5.0) == AHEAD + 2.0
    assert quorum.asked == 2


def test_what_was_told_before_silence_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ahead(Quorum(monkeypatch, 3.0)) == AHEAD + 1.5
    assert ahead(Quorum(monkeypatch)) is None
