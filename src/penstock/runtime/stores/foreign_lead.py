"""Whether Kafka Connect has led this cluster since one of our own workers did.

A leader's first write is a session key in the config topic; ours also write its digest to the
workers' topic, in the same transaction. If the two differ, Kafka Connect has led, and may have
reset sinks: missing group offsets have then not expired.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.kafka.compacted_log import CompactedLog
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.leader_writes import Record as Elsewhere
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.roster import Roster

LOOKS = 2
"""A leader of ours that renews its key between two reads looks foreign, but only once."""


@dataclass(frozen=True)
class ForeignLead:
    """Compares the two topics. Thread-safe."""

    configs: ConfigStore
    copies: PositionCopies
    roster: Roster
    workers: CompactedLog
    """The topic that the roster follows."""

    def seen(self) -> bool:
        """As far as the topics have been read. Without both marks it is unknown: False."""
        ours, newest = self.roster.session_key(), self.configs.session_keys.digest
        return ours is not None and newest is not None and ours != newest

    def confirmed(self) -> bool:
        """The same on any worker at any time, since it reads the topics to their ends."""
        for _ in range(LOOKS):
            self.workers.read_to_end()
            self.configs.log.read_to_end()
            if not self.seen():
                return False
        return True

    def outdated_copies(self) -> list[list[Elsewhere]]:
        """Records with which the leader deletes the copies, which must not undo a reset."""
        return [[*records] for records in self.copies.forgetting_all()] if self.seen() else []
