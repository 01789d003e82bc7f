"""The registry where there is no topic yet."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.consumers.errors import NoSuchTopic
from penstock.consumers.registry import registry
from penstock.kafka.clients import Connection


def test_without_its_topic_nothing_is_asked_about_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = Mock()
    monkeypatch.setattr(registry, "find_topic", Mock(side_effect=NoSuchTopic("none")))
    monkeypatch.setattr("penstock.kafka.topics.ends", ends)
    assert registry.Registry(Connection("nowhere:1"), Mock()).read().entries == {}
    ends.assert_not_called()


def test_a_topic_that_was_found_is_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Mock()
    monkeypatch.setattr(registry, "find_topic", found)
    monkeypatch.setattr("penstock.kafka.topics.ends", Mock(return_value={}))
    made = registry.Registry(Connection("nowhere:1"), Mock())
    assert made.read().entries == made.read().entries == {}
    found.assert_called_once()
