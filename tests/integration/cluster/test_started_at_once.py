"""Workers of a new cluster that start at the same moment, as those of every first deployment do."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from clusters import workers_of
from insisting import insist
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka.names import worker_topic
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = [pytest.mark.heavy, pytest.mark.crowd]

ROUNDS = int(os.environ.get("PENSTOCK_START_ROUNDS", "3"))
"""Each takes a new broker and three workers, about 12 s on two cores. Where two workers racing for
the topics were not provided for, one round in twenty failed."""


@pytest.mark.parametrize("number", range(ROUNDS))
def test_three_workers_started_at_once_on_an_empty_broker_are_one_healthy_cluster(
    tmp_path: Path, java: Java, jars: Jars, name: str, number: int
) -> None:
    with EmbeddedBroker(tmp_path / f"broker-{number}", java, jars) as broker:
        workers = workers_of(tmp_path, broker.bootstrap_servers, name, 3)
        try:
            for worker in workers:
                worker.launch()
            for worker in workers:
                worker.wait_until_healthy(within=90)
            _are_one_cluster(workers, name)
            _stores_have_one_partition(Topics(broker.bootstrap_servers), name)
        finally:
            for worker in workers:
                worker.close()


def _are_one_cluster(workers: list[WorkerProcess], group: str) -> None:
    """What one of them is told, every one of them knows."""
    config = {"connector.class": "FileStreamSource", "file": "lines.txt", "topic": group}
    insist(partial(workers[0].client.create, group, config, "STOPPED"))
    for worker in workers:
        eventually(lambda worker=worker: worker.client.connectors() == [group])  # type: ignore[misc]  # mypy: a lambda with a default


def _stores_have_one_partition(topics: Topics, group: str) -> None:
    """As these workers want them, not as the broker would have made them by itself."""
    stores = {v for k, v in own_topics(group).items() if k.endswith(".topic")}
    known = topics.admin.list_topics(timeout=20).topics
    assert {len(known[topic].partitions) for topic in (*stores, worker_topic(group))} == {1}
