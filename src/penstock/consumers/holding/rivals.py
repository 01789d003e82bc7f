"""Others in the group of a name, as far as the group and the registry know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.consumers.errors import NameHeld
from penstock.consumers.registry.entries import Snapshot
from penstock.consumers.registry.holder import Holder
from penstock.consumers.registry.registry import TOPIC
from penstock.consumers.slots import Slot
from penstock.kafka import groups
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.groups import GroupMember


@dataclass(frozen=True)
class Rival:
    """A member of the group, whose slot may overlap ours."""

    slot: Slot
    member: str
    holder: Holder | None
    """What the registry knows of it."""

    def gone(self) -> bool:
        """Whether it is only the trace of a process that has ended."""
        if self.holder is None or self.holder.member != self.member:
            return False  # a member has joined that is not in the registry yet
        return self.holder.released or self.holder.ended


def members_of(admin: GroupAdmin, name: str) -> dict[Slot, str]:
    """Who holds what under a name; NameHeld if it has members of another kind."""
    members = groups.described_members(admin, name)
    if any(member.instance is None for member in members):
        raise NameHeld(
            f'group "{name}" has members that share its partitions: stop them first, or share '
            "with them (share=True)."
        )
    _refuse_foreign(name, members)
    slots = {Slot.parse(member.instance or ""): member.id for member in members}
    return {slot: member for slot, member in slots.items() if slot is not None}


def _refuse_foreign(name: str, members: Iterable[GroupMember]) -> None:
    """Ours have partitions of the registry's topic at most: they are there to be members."""
    for member in members:
        others = sorted(member.topics - {TOPIC})
        if others:
            raise NameHeld(
                f'group "{name}" has a member of another program, "{member.instance}", which reads '
                f"{others[0]}: stop it first, and wait until its session has ended."
            )


def rivals_in(snapshot: Snapshot, name: str, members: Mapping[Slot, str]) -> list[Rival]:
    """The holders of these slots of a name, as far as is known."""
    found = members.items()
    return [Rival(slot, member, _holder(snapshot, name, slot)) for slot, member in found]


def _holder(snapshot: Snapshot, name: str, slot: Slot) -> Holder | None:
    """The last holder of a partition of the slot."""
    found = [
        entry
        for key, entry in snapshot.of(name, slot.topic).items()
        if slot.covers(key.partition) and entry.holder
    ]
    return max(found, key=lambda entry: entry.seen).holder if found else None
