"""``auto.restart.enabled``: a worker that mends by itself what can be mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess


@pytest.mark.heavy
def test_a_failed_task_works_again_by_itself(
    tmp_path: Path, broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    topics.create(name)
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "auto.restart.enabled": "true"},
    )
    struck = tmp_path / "struck"
    config = {"connector.class": "ScriptedSource", "topic": name, "count": "30", "mishap.at": "10"}
    config |= {"mishap": "raise", "mishap.once": str(struck)}
    try:
        worker.start()
        worker.client.create(name, config)
        eventually(struck.exists, what="the failure")
        eventually(lambda: len(topics.values(name)) == 30, within=90, what="all records, by itself")
        assert numbers_of(topics.values(name), 0) == list(range(30))
        assert worker.client.metrics(name)["auto_restart"]["count"] == 1
        assert "automatic restart number" in worker.log()
    finally:
        worker.close()
