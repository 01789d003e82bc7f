"""What the leader does in which order, and what it says when that goes wrong."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from penstock.kafka.errors import BrokerUnavailable
from penstock.runtime import actions as actions_module
from penstock.runtime.actions import Actions
from penstock.runtime.cluster.peers import PeerUnreachable
from penstock.runtime.errors import InternalError
from penstock.runtime.states import Target

NAME, HERE, THERE = "lines", "here:1", "there:1"


class Recorded:
    """A leader whose steps are noted; the assignment goes with the connector."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: str) -> None:
        self.steps: list[str] = []
        self.unfenced: list[int] = []
        context = MagicMock(worker_id=HERE)
        context.configs.target.return_value = Target.STARTED
        self.assigner = MagicMock(**{"owner.return_value": owner})
        self.control, self.peers = MagicMock(), MagicMock()
        self.control.do.side_effect = lambda verb, *_: self.steps.append(verb)
        self.peers.tell.side_effect = lambda _worker, _name, verb, _: self.steps.append(verb)
        context.configs.delete.side_effect = self._deleted
        context.configs.stop.side_effect = lambda _: self.steps.append("write")
        self.configs = context.configs
        context.statuses.forget.side_effect = lambda _: self.steps.append("forget")
        monkeypatch.setattr(actions_module, "fence_tasks", self._fence)
        self.actions = Actions(context, self.assigner, self.control, self.peers)

    def _deleted(self, *_: object) -> None:
        self.steps.append("write")
        self.assigner.owner.return_value = None

    def _fence(self, *_: object) -> None:
        self.steps.append("fence")
        if self.steps.count("fence") in self.unfenced:
            raise BrokerUnavailable("nobody answers")


def test_what_another_ran_is_fenced_again_after_it_was_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leader = Recorded(monkeypatch, THERE)
    leader.unfenced = [2]
    with pytest.raises(InternalError, match="It is deleted, but a worker that cannot be reached"):
        leader.actions.delete(NAME)
    assert leader.steps == ["end", "fence", "write", "forget", "fence"]


def test_what_ran_here_is_fenced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    leader = Recorded(monkeypatch, HERE)
    leader.actions.delete(NAME)
    assert leader.steps == ["end", "fence", "write", "forget"]
    leader.steps.clear()
    leader.assigner.owner.return_value = HERE
    leader.actions.stop(NAME)
    assert leader.steps == ["end", "fence", "write", "settle"]


def test_nothing_was_changed_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was ended for it goes on."""
    leader = Recorded(monkeypatch, THERE)
    leader.unfenced = [1]
    with pytest.raises(InternalError, match="Nothing was changed; try again"):
        leader.actions.stop(NAME)
    assert leader.steps == ["end", "fence", "settle"]


@pytest.mark.parametrize("error", [BrokerUnavailable("not read back"), RuntimeError("no threads")])
def test_whatever_goes_wrong_what_was_ended_for_it_is_settled(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Otherwise it would neither run nor be stopped, until a topic has something new about it."""
    leader = Recorded(monkeypatch, HERE)
    leader.configs.stop.side_effect = error
    with pytest.raises(type(error)):
        leader.actions.stop(NAME)
    assert leader.steps == ["end", "fence", "settle"]


def test_a_frozen_worker_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    leader = Recorded(monkeypatch, THERE)
    leader.peers.tell.side_effect = PeerUnreachable("frozen")
    leader.actions.stop(NAME)
    assert leader.steps == ["fence", "write", "fence"]
    leader.peers.tell.assert_called_once()
