"""Dead letters of a turn, in a transaction of its own."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.lease.dead_letters import Letter
from penstock.engine.lease.new_topics import NewTopics, TopicGroup
from penstock.kafka.transactions import Transactions


def send_letters(lease: FrameLease, producer: Transactions, letters: Sequence[Letter]) -> None:
    """Add them to the open transaction; FatalError if their topic cannot be created."""
    if not letters:
        return
    group = TopicGroup("dead letters", 1, lease.tolerance.dead_letter_replication, (".*",))
    topics = NewTopics((group,), lease.connection, lease.admin_settings)
    topics.ensure({lease.tolerance.dead_letter_topic})
    for topic, value, key, headers, stamp in letters:
        producer.send(topic, value, key, headers=headers, timestamp=stamp)
