"""The right to be the only one that commits under a name, for some partitions."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from penstock.consumers.errors import Fenced, NameHeld
from penstock.consumers.holding.absence import Absence, Stored
from penstock.consumers.holding.member import SESSION_MS, Member
from penstock.consumers.holding.rivals import Rival, members_of, rivals_in
from penstock.consumers.registry.holder import Holder
from penstock.consumers.registry.registry import Registry
from penstock.consumers.slots import Slot
from penstock.kafka import groups
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import KafkaFault
from penstock.kafka.topics import PartitionId
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

JOIN_SECONDS = 45.0


class Hold:
    """Taken with ``take``, given back with ``release``. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        admin: GroupAdmin,
        registry: Registry,
        name: str,
        slot: Slot,
        *,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_trouble`` is called, on any thread, when it may be fenced or lost."""
        self.name = name
        self.slot = slot
        self.holder = Holder.here()
        self._connection = connection
        self._admin = admin
        self._registry = registry
        self._on_trouble = on_trouble
        self._members: list[Member] = []
        """The first has our own slot; others have those of processes that were taken over from."""
        self._ids: set[str] = set()
        self._visited = False
        self._session_ms = SESSION_MS
        self._absence = Absence(admin, registry, name, slot)
        self._changing = threading.Lock()

    @property
    def fenced(self) -> bool:
        """Whether another process has taken over, or has come while we were away."""
        return self._visited or any(member.fenced for member in self._members)

    @property
    def lost(self) -> bool:
        """Whether the session is over, and it is not known yet whether another process came."""
        return not self.fenced and any(member.lost for member in self._members)

    def take(self, *, take_over: bool, session_ms: int = SESSION_MS) -> None:
        """Become the only one; NameHeld if another is and may not be fenced.

        Traces of processes that have ended do not matter.
        """
        self._session_ms = session_ms
        members = self._members_of_the_group()
        alive = [rival for rival in self._rivals(members) if not rival.gone()]
        if alive and not take_over:
            raise self._refusal(alive)
        # Of whatever it is that they held: the group would wait for them.
        self._remove([each for each in members if each.slot != self.slot and each.gone()])
        # A member that was merely removed would join again: with its slot taken it cannot.
        slots = [self.slot, *(rival.slot for rival in alive if rival.slot != self.slot)]
        try:
            self._join([str(slot) for slot in slots])
            self._refuse_newcomers(slots)
            self.holder = replace(self.holder, member=self._members[0].id)
        except BaseException:
            self.release(leave=True)
            raise

    def commit(self, offsets: Mapping[PartitionId, int]) -> Mapping[PartitionId, int]:
        """Store positions, all of them, which are returned; Fenced if another has taken over,
        SessionOver if we were away."""
        self._members[0].commit(offsets)
        return offsets

    def regain(self, stored: Stored) -> None:
        """Regain the right after the session has ended, if no other process came; Fenced, for
        good, if one did. A fault of the kafka room if that is not known yet."""
        with self._changing:
            if not self.lost:
                return
            self._absence.reach()
            try:
                self._come_back(stored)
            except (NameHeld, Fenced) as error:
                self._visited = True
                raise Fenced.of(self.name) from error

    def _come_back(self, stored: Stored) -> None:
        for each in self._members:
            self._ids |= each.ids
        self._absence.refuse_visitors(self.holder, self._ids, stored)
        first, *others = self._members
        mine = self._rejoined(stored) if first.lost else first
        # The slots of others need not be held any more: who was fenced there is fenced for good.
        self._members = [mine, *(each for each in others if not each.lost)]
        self.holder = replace(self.holder, member=mine.id)

    def _rejoined(self, stored: Stored) -> Member:
        """Checks once more then: another process may have come after the first check."""
        member = self._member(str(self.slot))
        try:
            member.wait_until_joined(JOIN_SECONDS)
            self._ids |= member.ids
            self._absence.refuse_visitors(self.holder, self._ids, stored)
        except BaseException as error:
            member.stop()
            self._ids |= member.ids
            if isinstance(error, NameHeld | Fenced) and member.id:
                self._leave([member])
            raise
        return member

    def release(self, *, leave: bool = False) -> None:
        """Let go. The next one with the same slot joins at once, since static members come back;
        for others the group waits for the rest of the session, unless the member ``leave``\\ s."""
        with self._changing:
            for member in self._members:
                member.stop()
            # What was held of others is known to the registry by the first alone.
            leaving = self._members if leave else self._members[1:]
            if leaving and not (self.fenced or self.lost):
                self._leave([member for member in leaving if member.id])
            self._members = []

    def _leave(self, members: list[Member]) -> None:
        try:
            slots = {member.slot: member.id for member in members}
            groups.remove_members(self._connection, self.name, slots)
        except (KafkaFault, ConfigError) as error:
            log.debug("group %s is left when its session ends: %s", self.name, error)

    def _join(self, slots: list[str]) -> None:
        for slot in slots:
            self._members.append(self._member(slot))
        for member in self._members:
            member.wait_until_joined(JOIN_SECONDS)

    def _member(self, slot: str) -> Member:
        told = self._on_trouble
        return Member(self._connection, self.name, slot, self._session_ms, on_trouble=told)

    def _refuse_newcomers(self, slots: list[Slot]) -> None:
        """Two may have checked at the same moment, and neither has found the other."""
        members = self._members_of_the_group(apart_from=slots)
        newcomers = [rival for rival in self._rivals(members) if not rival.gone()]
        if newcomers:
            raise self._refusal(newcomers)

    def _members_of_the_group(self, apart_from: Collection[Slot] = ()) -> list[Rival]:
        found = members_of(self._admin, self.name)
        others = {slot: member for slot, member in found.items() if slot not in apart_from}
        # Mostly there is no rival: then nothing need be known about it.
        return rivals_in(self._registry.read(), self.name, others) if others else []

    def _rivals(self, members: list[Rival]) -> list[Rival]:
        return [member for member in members if member.slot.overlaps(self.slot)]

    def _remove(self, rivals: list[Rival]) -> None:
        traces = {str(rival.slot): rival.member for rival in rivals}
        groups.remove_members(self._connection, self.name, traces)

    def _refusal(self, rivals: list[Rival]) -> NameHeld:
        rival = rivals[0]
        who = str(rival.holder) if rival.holder else "another process"
        return NameHeld(
            f'consumer "{self.name}" is reading {rival.slot} already: {who}. Stop it, or take over '
            "from it (--take-over, take_over=True), which ends its right to commit. If it was "
            f"killed, its name is free again after {SESSION_MS // 1000} s."
        )
