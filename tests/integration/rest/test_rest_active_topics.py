"""The topics of a connector, as a client sees them that waits for them.

That a new topic does not wait for the next heartbeat is shown in
``tests/unit/engine/carriers/test_conversation.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penstock.client import ConnectClient
from waiting import eventually


def test_a_topic_shows_while_its_first_lease_runs_and_comes_back_after_a_reset_once_used_again(
    scripted: Callable[..., None],
    arrive: Callable[..., None],
    connectors: ConnectClient,
    name: str,
    tmp_path: Path,
) -> None:
    """Before the gate is open, no lease can end: its task waits there after ten records."""
    gate = tmp_path / "gate"
    scripted(count=20, mishap=f"until:{gate}", mishap_at=10)
    eventually(lambda: connectors.topics(name) == [name], what="the topic", within=30)
    connectors.reset_topics(name)
    assert connectors.topics(name) == []
    gate.touch()
    arrive(20)
    eventually(lambda: connectors.topics(name) == [name], what="the topic, used again")
