"""What the faults strike: a broker, two workers, their links, and connectors under load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from chaos.alterations import Alterations
from chaos.broker import Broker
from chaos.cluster import Cluster
from chaos.load import SOURCES, Load
from chaos.worker import Worker
from penstock.client import ConnectClient
from penstock.client.waiting import wait_until
from penstock.embedded import ensure_jars, find_java
from penstock.embedded.ports import free_port

WORKERS = 2
START_SECONDS = 120.0
REQUEST_SECONDS = 30.0


class Ground:
    """Everything below one folder. Everything ends with the with statement."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        os.environ["PENSTOCK_STATE_DIR"] = str(folder / "state")
        os.environ["PYTHONFAULTHANDLER"] = "1"
        java = find_java()
        self.broker = Broker(folder / "kafka", java, ensure_jars(java), WORKERS)
        self.workers = [self._worker(number) for number in range(WORKERS)]
        self.cluster = Cluster(self.workers)
        self.load = Load(folder / "files")
        self.alterations = Alterations()
        self._stack = ExitStack()

    def __enter__(self) -> Ground:
        with ExitStack() as stack:
            stack.enter_context(self.broker)
            self._create_topics()
            for worker in self.workers:
                stack.callback(worker.close)
                worker.start()
                wait_until(worker.healthy, f"a healthy {worker.name}", START_SECONDS)
            stack.enter_context(self.load)
            self._create_connectors()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def logs(self) -> list[Path]:
        """What to read when something went wrong."""
        return [*(log for w in self.workers for log in (w.output, w.log)), self.broker.log]

    def _worker(self, number: int) -> Worker:
        link = self.broker.links[number]
        properties = {
            "bootstrap.servers": f"127.0.0.1:{link.port}",
            "group.id": "chaos",
            "spark.master": "local[4]",
            "spark.driver.memory": "512m",
        }
        name = f"worker-{number}"
        return Worker(name, self.folder / name, free_port(), properties)

    def _create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers, "log_level": 0})
        new = [NewTopic(each.topic, each.partitions, 1) for each in SOURCES]
        for future in admin.create_topics(new).values():
            future.result(REQUEST_SECONDS)

    def _create_connectors(self) -> None:
        for name, config in self.load.configs().items():
            self.cluster.ask(f"to create {name}", partial(_create, name, config))


def _create(name: str, config: Mapping[str, str], client: ConnectClient) -> bool:
    return bool(client.put_config(name, config))
