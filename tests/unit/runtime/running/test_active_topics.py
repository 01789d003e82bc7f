"""Topics noted while leases run."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from penstock.runtime.running.active_topics import ActiveTopics


def topics_of(config: dict[str, str] | None, *, enabled: bool = True) -> tuple[ActiveTopics, Mock]:
    statuses: Any = Mock()
    configs: Any = Mock(**{"config.return_value": config})
    return ActiveTopics("orders", configs, statuses, enabled), statuses.add_topics


def test_topics_are_noted() -> None:
    active, added = topics_of({})
    active.note(3, ["t"])
    added.assert_called_once_with("orders", 3, ["t"])


def test_a_lease_that_outlives_its_connector_leaves_no_topics_behind() -> None:
    active, added = topics_of(None)
    active.note(0, ["t"])
    assert not added.called


def test_where_topics_are_not_tracked_none_are_noted() -> None:
    active, added = topics_of({}, enabled=False)
    active.note(0, ["t"])
    assert not added.called
