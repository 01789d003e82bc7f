"""Whether a name was used by another process while its holder had lost its session."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import KafkaException

from penstock.consumers.errors import Fenced
from penstock.consumers.holding.rivals import members_of, rivals_in
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.registry.holder import Holder
from penstock.consumers.registry.registry import Registry
from penstock.consumers.slots import Slot
from penstock.kafka import groups
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.errors import BrokerUnavailable, describe
from penstock.kafka.topics import PartitionId

REACH_SECONDS = 5.0

Stored = Mapping[PartitionId, Collection[int]]
"""What the group may have of each partition that is held: where it is not known whether a commit
was taken, the place before and the one after."""


class Absence:
    """Of one name and one slot. Every question may raise a fault of the kafka room."""

    def __init__(self, admin: GroupAdmin, registry: Registry, name: str, slot: Slot) -> None:
        self._admin = admin
        self._registry = registry
        self._name = name
        self._slot = slot

    def reach(self) -> None:
        """Return when brokers answer, soon: the questions below would wait for long."""
        try:
            self._admin.list_topics(timeout=REACH_SECONDS)
        except KafkaException as error:
            raise BrokerUnavailable(describe(error)) from error
        # The client may go on waiting for the coordinator as it was before.
        self._admin.forget_coordinators()

    def refuse_visitors(self, holder: Holder, own: Collection[str], stored: Stored) -> None:
        """Fenced or NameHeld if another process is there, or was; ``own`` are our members' ids."""
        ours = self._registered(holder, stored)
        if not ours or self._is_there(own) or self._committed(stored):
            raise Fenced.of(self._name)

    def _registered(self, holder: Holder, stored: Stored) -> bool:
        """Whether the registry still names us, in every partition."""
        entries = self._registry.read().entries
        found = [entries.get(RegistryKey(self._name, *position)) for position in stored]
        named = [entry.holder if entry else None for entry in found]
        return all(each and each.token == holder.token and not each.released for each in named)

    def _is_there(self, own: Collection[str]) -> bool:
        members = members_of(self._admin, self._name).items()
        others = {slot: member for slot, member in members if member not in own}
        overlapping = {s: m for s, m in others.items() if s.overlaps(self._slot)}
        rivals = rivals_in(self._registry.read(), self._name, overlapping) if overlapping else []
        return not all(rival.gone() for rival in rivals)

    def _committed(self, stored: Stored) -> bool:
        """Whether the group has other offsets than ours: who joins it plainly does not register."""
        found = groups.committed(self._admin, self._name, stored)
        return any(found.get(at, (None,))[0] not in ours for at, ours in stored.items())
