"""Topics noted while leases run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease.heartbeats import Heartbeat, beating
from penstock.engine.lease.lease import Limits
from penstock.runtime.running.active_topics import ActiveTopics
from waiting import eventually

RARE = Limits(heartbeat_seconds=60.0, unanswered_seconds=120.0)
Begin = Callable[[ActiveTopics], Heartbeat]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Starts lease "a" of task 3, which beats once a minute and is watched."""
    server = HeartbeatServer()
    with ExitStack() as stack:

        def start(active: ActiveTopics) -> Heartbeat:
            turn: Any = SimpleNamespace(
                watch=TurnWatch(RARE), leases=[SimpleNamespace(lease_id="a", task=3)]
            )
            turn.watch.begin()
            active.watch(turn)
            server.watch("a", turn.watch)
            return stack.enter_context(beating(server.address, "a", RARE))

        yield start
    server.close()


def topics_of(config: dict[str, str] | None, *, enabled: bool = True) -> tuple[ActiveTopics, Mock]:
    statuses: Any = Mock()
    configs: Any = Mock(**{"config.return_value": config})
    return ActiveTopics("orders", configs, statuses, enabled), statuses.add_topics


def test_a_new_topic_does_not_wait_for_the_next_beat(begin: Begin) -> None:
    active, added = topics_of({})
    heartbeat = begin(active)
    heartbeat.progress.topics.note(["t"])
    eventually(lambda: added.called, within=20, what="the topic")
    added.assert_called_once_with("orders", 3, ["t"])
    heartbeat.progress.topics.note(["u"])
    eventually(lambda: added.call_count > 1, within=20, what="the other topic")
    assert added.call_args.args == ("orders", 3, ["u"])
    eventually(lambda: not heartbeat.progress.topics.rest(), within=20, what="answers")


def test_a_lease_that_outlives_its_connector_leaves_no_topics_behind() -> None:
    active, added = topics_of(None)
    active.note(0, ["t"])
    assert not added.called


def test_where_topics_are_not_tracked_none_are_noted(begin: Begin) -> None:
    active, added = topics_of({}, enabled=False)
    heartbeat = begin(active)
    heartbeat.progress.topics.note(["t"])
    eventually(lambda: not heartbeat.progress.topics.rest(), within=20, what="the answer")
    active.note(0, ["t"])
    assert not added.called
