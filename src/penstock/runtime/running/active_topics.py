"""The topics that a connector uses, recorded as soon as one of its leases reports them.

What a lease reported with its beats stays recorded, whether it ends well, is lost or is
cancelled. Its final report has only what a beat may not have delivered.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.status_store import StatusStore


@dataclass(frozen=True)
class ActiveTopics:
    """The active topics of one connector. Thread-safe."""

    name: str
    configs: ConfigStore
    statuses: StatusStore
    enabled: bool
    """As ``topic.tracking.enable`` says."""

    def note(self, task: int, topics: Iterable[str]) -> None:
        """A task uses these. If the lease has outlived its connector, they are ignored."""
        if self.enabled and topics and self.configs.config(self.name) is not None:
            self.statuses.add_topics(self.name, task, topics)
