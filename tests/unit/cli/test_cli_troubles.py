"""What commands tell that have done their work, but not all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli import consumer, topic
from penstock.consumers.registry.entries import RegistryKey

Run = Callable[..., Any]


def test_a_sweep_that_could_not_remove_everything(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sweep(trouble: Callable[[str], object]) -> list[RegistryKey]:
        for text in ("group b is denied.", "group b is denied.", "group c is denied."):
            trouble(text)
        return [RegistryKey("a", "t", 0)]

    monkeypatch.setattr(consumer, "_directory", lambda *_: Mock(sweep=sweep))
    result = run("consumer", "sweep")
    assert (result.code, result.out) == (1, 'consumer "a" on partition "0" deleted\n')
    told = "not everything could be removed: group b is denied. And 1 more."
    assert result.err.startswith(f"Error: {told}\nNext:  Remove the cause")


def test_topics_are_deleted_though_consumers_are_not_forgotten(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete(name: str, *, internal: bool, trouble: Callable[[str], object]) -> None:
        assert not internal
        trouble(f"consumers of {name} are left")

    admin = Mock(delete=delete, consumers=Mock(return_value=[]))
    monkeypatch.setattr(topic, "_admin", lambda *_: admin)
    result = run("topic", "delete", "t", "u", "--yes")
    assert (result.code, result.out) == (0, 'topic "t" deleted\ntopic "u" deleted\n')
    assert result.err == "consumers of t are left\nconsumers of u are left\n"
