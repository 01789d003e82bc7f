"""Topics that a lease uses, on their way to its worker."""

from __future__ import annotations

import pytest

from penstock.engine.lease import used_topics
from penstock.engine.lease.used_topics import UsedTopics


def test_only_a_topic_that_was_never_told_of_is_urgent() -> None:
    urgent: list[bool] = []
    used = UsedTopics(lambda: urgent.append(True))
    used.note(["a"])
    assert (len(urgent), used.tell()) == (1, ["a"])
    used.note(["a"])
    assert (len(urgent), used.tell(), used.tell()) == (1, ["a"], [])
    used.note(["a", "b"])
    assert (len(urgent), used.tell()) == (2, ["a", "b"])


def test_the_report_has_what_was_not_answered() -> None:
    used = UsedTopics()
    used.note(["a"])
    used.tell()
    used.note(["b"])
    used.tell()
    used.note(["c"])
    assert used.rest() == {"a", "b", "c"}
    used.heard()
    assert used.rest() == {"b", "c"}
    used.heard()
    used.heard()
    assert used.rest() == {"c"}


def test_on_a_new_connection_what_was_not_answered_is_told_again() -> None:
    used = UsedTopics()
    for topic in ("a", "b"):
        used.note([topic])
        used.tell()
    used.heard()
    used.tell_again()
    assert used.tell() == ["b"]


def test_very_many_go_with_several_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_topics, "MOST_PER_BEAT", 2)
    used = UsedTopics()
    used.note(["a", "b", "c"])
    assert (used.tell(), used.tell()) == (["a", "b"], ["c"])
