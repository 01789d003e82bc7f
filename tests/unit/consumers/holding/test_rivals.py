"""Members of another kind in the group of a name."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.consumers import NameHeld
from penstock.consumers.holding.rivals import members_of
from penstock.consumers.registry.registry import TOPIC
from penstock.consumers.slots import Slot
from penstock.kafka import groups
from penstock.kafka.groups import GroupMember

ADMIN: Any = None
NOTHING: frozenset[str] = frozenset()


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> list[GroupMember]:
    """The members that are told of."""
    members: list[GroupMember] = []
    monkeypatch.setattr(groups, "described_members", lambda *_: members)
    return members


def test_ours_have_nothing_but_the_registry(group: list[GroupMember]) -> None:
    group += [
        GroupMember("m1", "orders/0", frozenset({TOPIC})),
        GroupMember("m2", "orders/1", NOTHING),
    ]
    assert members_of(ADMIN, "c1") == {
        Slot("orders", frozenset({0})): "m1",
        Slot("orders", frozenset({1})): "m2",
    }


def test_a_static_member_of_another_program_is_refused(group: list[GroupMember]) -> None:
    group.append(GroupMember("m1", "worker-1", frozenset({"orders"})))
    with pytest.raises(NameHeld, match='another program, "worker-1", which reads orders'):
        members_of(ADMIN, "c1")


def test_members_that_share_are_refused(group: list[GroupMember]) -> None:
    group.append(GroupMember("m1", None, NOTHING))
    with pytest.raises(NameHeld, match="share=True"):
        members_of(ADMIN, "c1")
