"""Rule 3: every transaction is committed under the worker's membership of its group."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess


@pytest.mark.heavy
def test_a_worker_frozen_for_longer_than_its_session_and_thawed(
    tmp_path: Path, broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    """Its lease begins only after it was replaced, with a producer made anew and old positions.

    The producer's own fencing does not help: making one anew makes it the newest. Only the
    membership of the transaction tells the broker that this worker has been replaced. The worker
    itself is still frozen then: thawed, it would tell its lease to finish.
    """
    topics.create(name)
    limit, hold = tmp_path / "limit", tmp_path / "hold"
    limit.write_text("100")
    hold.touch()
    frozen = _worker(tmp_path / "frozen", broker, name, {"PENSTOCK_TEST_HOLD": str(hold)})
    heir = _worker(tmp_path / "heir", broker, name, {})
    config = {"connector.class": "HeldSource", "topic": name, "limit.file": str(limit)}
    try:
        frozen.start()
        frozen.client.create(name, config)
        eventually(Path(f"{hold}.held").exists, within=180, what="a lease about to begin")
        heir.start()
        frozen.send(signal.SIGSTOP)
        eventually(lambda: len(topics.values(name)) == 100, within=180, what="the heir's records")

        hold.unlink()
        written = "its lease's records"
        eventually(lambda: len(topics.messages(name, committed=False)) >= 200, what=written)
        frozen.send(signal.SIGCONT)
        insight = "the frozen worker's insight"
        eventually(lambda: "no longer the leader" in frozen.log(), within=120, what=insight)
        limit.write_text("200")
        eventually(lambda: len(topics.values(name)) >= 200, within=90, what="the heir's rest")
        assert numbers_of(topics.values(name), 0) == list(range(200))
    finally:
        frozen.close()
        heir.close()


def _worker(
    folder: Path, broker: EmbeddedBroker, name: str, environment: dict[str, str]
) -> WorkerProcess:
    return WorkerProcess(
        folder,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "session.timeout.ms": "6000"},
        environment=environment,
    )
