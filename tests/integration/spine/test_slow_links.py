"""Sources on links that take little, and on links that break again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from distant_broker import DistantBroker
from files import digest, lines_of, size_of, write_lines
from free_ports import free_port
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.kafka.names import client_id
from quotas import Quotas
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

LINES = 100_000
BYTE_RATE = 300_000


@pytest.mark.heavy
def test_a_source_under_a_quota_commits_steadily(
    connectors: ConnectClient,
    broker: EmbeddedBroker,
    topics: Topics,
    java: Java,
    jars: Jars,
    name: str,
    tmp_path: Path,
) -> None:
    """The file would take more than a minute; it is stopped halfway, and finished without quota."""
    source = tmp_path / "in.txt"
    write_lines(source, LINES, 200)
    topics.create(name)
    with Quotas(broker.bootstrap_servers, java, jars).producing(
        client_id("producer", name, 0), BYTE_RATE
    ):
        connectors.create(
            name, {"connector.class": "FileStreamSource", "file": str(source), "topic": name}
        )
        seen: set[int] = set()
        # What a quota lets pass at first, ten seconds' worth, is not counted.
        free = 10 * BYTE_RATE

        def grown() -> bool:
            seen.update(o["offset"]["position"] for o in connectors.offsets(name))
            return len({position for position in seen if position > free}) >= 5

        eventually(grown, within=120, what="offsets that grow")
        [task] = connectors.status(name)["tasks"]
        assert task["state"] == "RUNNING"
        connectors.stop(name)
        eventually(lambda: connectors.status(name)["connector"]["state"] == "STOPPED", within=5)
        [stopped] = connectors.offsets(name)
        assert stopped["offset"]["position"] < source.stat().st_size, "the quota did not count"
    connectors.resume(name)
    eventually(lambda: topics.end(name) >= LINES, what="all lines")
    eventually(lambda: len(topics.values(name)) >= LINES, what="all lines")
    assert topics.values(name) == source.read_text().splitlines()


@pytest.mark.heavy
def test_a_source_and_a_sink_on_a_distant_link_that_is_cut_again_and_again(
    tmp_path: Path, java: Java, jars: Jars
) -> None:
    """The worker and its leases know the broker over that link alone, and carry on."""
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    write_lines(source, LINES, 20)
    with DistantBroker(tmp_path / "kafka", java, jars) as distant:
        distant.topics.create("lines")
        worker = WorkerProcess(
            tmp_path / "worker", port=free_port(), bootstrap_servers=distant.address
        )
        try:
            worker.start()
            distant.link.delay = 0.1
            with distant.link.cutting(every=2.0):
                _create_pair(worker.client, source, target)
                eventually(lambda: size_of(target) > 0, within=180, what="a few lines")
                before = size_of(source)
                with source.open("a") as more:
                    more.writelines(f"later {number}\n" for number in range(1000))
                eventually(lambda: size_of(target) > before, within=180, what="later lines")
            distant.link.delay = 0.0
            eventually(lambda: size_of(target) >= size_of(source), within=120, what="all of it")
            assert digest(target) == digest(source)
            assert distant.topics.values("lines") == lines_of(source)
            states = [
                worker.client.status(each)["tasks"][0]["state"] for each in ("source", "sink")
            ]
            assert states == ["RUNNING", "RUNNING"]
        finally:
            worker.close()


@pytest.mark.heavy
def test_what_a_user_asks_for_over_a_link_that_is_cut_again_and_again(
    tmp_path: Path, java: Java, jars: Jars
) -> None:
    """Each request is sent once, and done when it is answered."""
    source = tmp_path / "in.txt"
    write_lines(source, 1000, 20)
    second = len(source.read_bytes().split(b"\n")[0]) + 1
    with DistantBroker(tmp_path / "kafka", java, jars) as distant:
        distant.topics.create("lines")
        worker = WorkerProcess(
            tmp_path / "worker", port=free_port(), bootstrap_servers=distant.address
        )
        try:
            worker.start()
            distant.link.delay = 0.1
            with distant.link.cutting(every=2.0):
                client = worker.client
                config = {"connector.class": "FileStreamSource", "topic": "lines"}
                client.create("source", {**config, "file": str(source)})
                eventually(lambda: _position(client) == size_of(source), within=180, what="lines")
                client.restart("source", include_tasks=True)
                client.stop("source")
                assert client.status("source")["connector"]["state"] == "STOPPED"
                [known] = client.offsets("source")
                client.alter_offsets("source", [{**known, "offset": {"position": second}}])
                assert _position(client) == second
                client.put_config("source", {**config, "file": str(source), "batch.size": "10"})
                client.resume("source")
                eventually(lambda: _position(client) == size_of(source), within=180, what="again")
                client.pause("source")
                client.delete("source")
                assert client.connectors() == []
            distant.link.delay = 0.0
            lines = lines_of(source)
            assert distant.topics.values("lines") == [*lines, *lines[1:]]
        finally:
            worker.close()


def _position(client: ConnectClient) -> int | None:
    """How far the source has committed."""
    found = client.offsets("source")
    return found[0]["offset"]["position"] if found else None


def _create_pair(client: ConnectClient, source: Path, target: Path) -> None:
    source_config = {"connector.class": "FileStreamSource", "topic": "lines"}
    sink_config = {"connector.class": "FileStreamSink", "topics": "lines"}
    client.create("source", {**source_config, "file": str(source)})
    client.create("sink", {**sink_config, "file": str(target)})
