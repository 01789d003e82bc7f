"""Rule 2: transactions are short, many per lease, under Kafka Connect's ids."""

from __future__ import annotations

from pathlib import Path

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from topics import Topics
from waiting import eventually


def test_a_lease_makes_many_transactions(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    """A slow source of six seconds must not hold one transaction open for six seconds."""
    scripted(count=120, batch=1, pause_ms=50)
    seen = set()

    def visible() -> bool:
        seen.add(len(topics.values(name)))
        return 120 in seen

    eventually(visible, what="all records")
    markers = topics.end(name) - 120
    assert markers >= 3
    assert len(seen - {0, 120}) >= 2


def test_the_transactional_id_is_kafka_connects(
    connectors: ConnectClient, scripted, topics: Topics, worker: Worker, name: str, tmp_path: Path
) -> None:
    """Whoever takes group, connector and task for an id fences the task."""
    waking = tmp_path / "wake up"
    scripted(count=20, batch=10, mishap=f"until:{waking}", mishap_at=10)
    eventually(lambda: topics.end(name, committed=False) >= 10, what="an open transaction")
    assert topics.end(name) == 0
    topics.transaction(f"{worker.config.group_id}-{name}-0")
    eventually(lambda: topics.end(name) > 0, within=2, what="its abort")
    waking.touch()
    eventually(lambda: len(topics.values(name)) == 20, what="recovery")
