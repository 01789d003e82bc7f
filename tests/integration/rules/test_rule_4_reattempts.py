"""Rule 4: a Spark re-attempt touches nothing."""

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
def test_a_spark_reattempt_after_a_committed_transaction(
    tmp_path: Path, broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    """The first attempt commits, then dies; Spark tries again with the positions of before."""
    worker = WorkerProcess(
        tmp_path,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
        options=("--master", "local[4,4]"),
    )
    worker.start()
    try:
        config = {
            "connector.class": "ScriptedSource",
            "topic": name,
            "count": "100",
            "batch": "10",
            "pause.ms": "300",
            "mishap": "exit",
            "mishap.at": "70",
            "mishap.once": str(tmp_path / "struck"),
        }
        worker.client.create(name, config)
        done = [{"partition": {"task": 0}, "offset": {"next": 100}}]
        eventually(lambda: worker.client.offsets(name) == done, within=180)
        assert (tmp_path / "struck").exists()
        assert numbers_of(topics.values(name), 0) == list(range(100))
        # Nothing would come of it, as its carrier is another process by now: but it stays away.
        assert "a connection to the port for carriers was refused" not in worker.log()
    finally:
        worker.close()
