"""A cluster of two brokers, of which the second can go away with its partitions."""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import NewTopic

from free_ports import free_port
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics
from waiting import eventually


@dataclass(frozen=True)
class TwoBrokers:
    """``first`` has the controller and all that is needed to go on without ``second``."""

    first: EmbeddedBroker
    second: EmbeddedBroker
    topics: Topics

    def create(self, topic: str, broker: int) -> None:
        """A topic whose one partition is on that broker alone."""
        new = NewTopic(topic, 1, replica_assignment=[[broker]])
        self.topics.admin.create_topics([new])[topic].result(20)
        eventually(lambda: topic in self.topics.admin.list_topics(timeout=20).topics, what=topic)


@contextmanager
def two_brokers(folder: Path, java: Java, jars: Jars) -> Iterator[TwoBrokers]:
    """Both running; the test may stop, kill and start the second."""
    ports = [free_port() for _ in range(3)]
    voters = {
        "controller.quorum.voters": f"1@127.0.0.1:{ports[1]}",
        # So that the first learns soon that the second has gone.
        "broker.session.timeout.ms": "5000",
        "broker.heartbeat.interval.ms": "500",
    }
    own = f"PLAINTEXT://127.0.0.1:{ports[0]},CONTROLLER://127.0.0.1:{ports[1]}"
    first = EmbeddedBroker(
        folder / "first", java, jars, port=ports[0], extra={**voters, "listeners": own}
    )
    with first:
        alone = Topics(first.bootstrap_servers)
        alone.create("first")
        alone.produce("first", [b"record"])  # now the topics of coordinators are on it, all of them
        extra = {
            **voters,
            "process.roles": "broker",
            "node.id": "2",
            "listeners": f"PLAINTEXT://127.0.0.1:{ports[2]}",
        }
        second = EmbeddedBroker(folder / "second", java, jars, port=ports[2], extra=extra)
        _join(folder)
        with second:
            yield TwoBrokers(first, second, Topics(first.bootstrap_servers))


def _join(folder: Path) -> None:
    """Prepare the second's data folder for the first one's cluster."""
    first = (folder / "first" / "log" / "meta.properties").read_text()
    own = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    text = re.sub("directory.id=.*", f"directory.id={own}", first.replace("node.id=1", "node.id=2"))
    (folder / "second" / "log").mkdir(parents=True)
    (folder / "second" / "log" / "meta.properties").write_text(text)
