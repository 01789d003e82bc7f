"""Whether Kafka Connect has led this cluster since one of our own workers did.

Before anything else, whoever leads writes a session key into the config topic; ours remember a
digest of theirs in the workers' topic, in the same transaction. Where the two differ, somebody else
has led, and may have reset sinks: group offsets that are gone then have not expired.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.runtime.config_store import ConfigStore, Elsewhere
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.roster import Roster

LOOKS = 2
"""A leader of ours that renews its key between two reads looks like another, but only once."""


@dataclass(frozen=True)
class ForeignLead:
    """What the two topics say. Thread-safe."""

    configs: ConfigStore
    copies: PositionCopies
    roster: Roster

    def seen(self) -> bool:
        """As far as the topics have been read. Without both marks nothing is known: False."""
        ours, newest = self.roster.session_key(), self.configs.session_keys.digest
        return ours is not None and newest is not None and ours != newest

    def confirmed(self) -> bool:
        """The same on any worker at any time: reads the topics to their ends."""
        for _ in range(LOOKS):
            self.copies.log.read_to_end()
            self.configs.log.read_to_end()
            if not self.seen():
                return False
        return True

    def outdated_copies(self) -> list[Elsewhere]:
        """Records with which the leader forgets what such a reset must not be undone with."""
        if not self.seen():
            return []
        return [(self.copies.log.topic, key, None) for key in self.copies.every_key()]
