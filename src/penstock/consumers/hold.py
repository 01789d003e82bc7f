"""The right to be the only one that commits under a name, for some partitions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from penstock.consumers.entries import Snapshot
from penstock.consumers.errors import NameHeld
from penstock.consumers.holder import Holder
from penstock.consumers.member import SESSION_MS, Member
from penstock.consumers.registry import Registry
from penstock.consumers.slots import Slot
from penstock.kafka import groups
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import KafkaFault
from penstock.kafka.topics import Position

log = logging.getLogger(__name__)

JOIN_SECONDS = 45.0


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
            return False  # somebody has joined who has not said so in the registry yet
        return self.holder.released or self.holder.ended


class Hold:
    """Taken with ``take``, given back with ``release``. Thread-safe."""

    def __init__(
        self, connection: Connection, admin: GroupAdmin, registry: Registry, name: str, slot: Slot
    ) -> None:
        self.name = name
        self.slot = slot
        self.holder = Holder.here()
        self._connection = connection
        self._admin = admin
        self._registry = registry
        self._members: list[Member] = []

    @property
    def fenced(self) -> bool:
        """Whether somebody else has taken over."""
        return any(member.fenced for member in self._members)

    def take(self, *, take_over: bool, session_ms: int = SESSION_MS) -> None:
        """Become the only one; NameHeld if another is and may not be fenced.

        Traces of processes that have ended are no obstacle.
        """
        members = self._members_of_the_group()
        alive = [rival for rival in self._rivals(members) if not rival.gone()]
        if alive and not take_over:
            raise self._refusal(alive)
        # Of whatever it is that they held: the group would wait for them.
        self._remove([each for each in members if each.slot != self.slot and each.gone()])
        # A member that was merely removed would join again: with its slot taken it cannot.
        slots = [self.slot, *(rival.slot for rival in alive if rival.slot != self.slot)]
        try:
            self._join([str(slot) for slot in slots], session_ms)
            self._refuse_newcomers(slots)
            self.holder = replace(self.holder, member=self._members[0].id)
        except BaseException:
            self.release(leave=True)
            raise

    def commit(self, places: Mapping[Position, int]) -> None:
        """Store positions; Fenced if another has taken over."""
        self._members[0].commit(places)

    def release(self, *, leave: bool = False) -> None:
        """Let go. The next one with the same slot joins at once, since static members come back;
        for others the group waits for the rest of the session, unless the member ``leave``\\ s."""
        for member in self._members:
            member.stop()
        # What was held of others is known to the registry by the first alone.
        leaving = self._members if leave else self._members[1:]
        if leaving and not self.fenced:
            self._leave([member.slot for member in leaving if member.id])
        self._members = []

    def _leave(self, slots: list[str]) -> None:
        try:
            groups.remove_members(self._connection, self.name, slots)
        except KafkaFault as error:
            log.debug("group %s is left when its session is over: %s", self.name, error)

    def _join(self, slots: list[str], session_ms: int) -> None:
        for slot in slots:
            self._members.append(Member(self._connection, self.name, slot, session_ms))
        for member in self._members:
            member.wait_until_joined(JOIN_SECONDS)

    def _refuse_newcomers(self, slots: list[Slot]) -> None:
        """Two may have looked at the same moment and both have found nobody."""
        members = self._members_of_the_group(apart_from=slots)
        newcomers = [rival for rival in self._rivals(members) if not rival.gone()]
        if newcomers:
            raise self._refusal(newcomers)

    def _members_of_the_group(self, apart_from: Collection[Slot] = ()) -> list[Rival]:
        found = members_of(self._admin, self.name)
        others = {slot: member for slot, member in found.items() if slot not in apart_from}
        # Mostly there is nobody: then nothing need be known of them.
        return rivals_in(self._registry.read(), self.name, others) if others else []

    def _rivals(self, members: list[Rival]) -> list[Rival]:
        return [member for member in members if member.slot.overlaps(self.slot)]

    def _remove(self, rivals: list[Rival]) -> None:
        groups.remove_members(self._connection, self.name, [str(rival.slot) for rival in rivals])

    def _refusal(self, rivals: list[Rival]) -> NameHeld:
        rival = rivals[0]
        who = str(rival.holder) if rival.holder else "another process"
        return NameHeld(
            f'consumer "{self.name}" is reading {rival.slot} already: {who}. Stop it, or take over '
            "from it (--take-over, take_over=True), which ends its right to commit. If it was "
            f"killed, its name is free again after {SESSION_MS // 1000} s."
        )


def members_of(admin: GroupAdmin, name: str) -> dict[Slot, str]:
    """Who holds what under a name; NameHeld if its members share its partitions."""
    members = groups.static_members(admin, name)
    if None in members:
        raise NameHeld(
            f'group "{name}" has members that share its partitions: stop them first, or share '
            "with them (share=True)."
        )
    slots = {Slot.parse(text or ""): member for text, member in members.items()}
    return {slot: member for slot, member in slots.items() if slot is not None}


def rivals_in(snapshot: Snapshot, name: str, members: Mapping[Slot, str]) -> list[Rival]:
    """Whoever holds these slots of a name, as far as is known."""
    found = members.items()
    return [Rival(slot, member, _holder(snapshot, name, slot)) for slot, member in found]


def _holder(snapshot: Snapshot, name: str, slot: Slot) -> Holder | None:
    """Whoever was the last to hold a partition of the slot."""
    found = [
        entry
        for place, entry in snapshot.of(name, slot.topic).items()
        if slot.covers(place.partition) and entry.holder
    ]
    return max(found, key=lambda entry: entry.seen).holder if found else None
