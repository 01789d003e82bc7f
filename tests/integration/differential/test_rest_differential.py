"""The same conversation with real Kafka Connect and with Penstock, on one broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.connect_jars import ensure_connect_jars
from bench.kafka_connect import start_kafka_connect
from bench.penstock_worker import start_penstock
from differential.comparing import Difference, differences
from differential.known import KNOWN
from differential.script import CONVERSATION
from differential.sides import Side
from differential.steps import Ask
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from python_path import PLUGINS, without_path
from topics import Topics
from waiting import eventually

# As long as each other, so that places inside texts stay the same; and in no word of theirs.
KAFKA_CONNECT, PENSTOCK = "zwest", "zeast"


@pytest.fixture
def sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broker: EmbeddedBroker, jars: Jars, java: Java
) -> Iterator[tuple[Side, Side]]:
    """A worker of each kind, each with topics of its own."""
    monkeypatch.setenv("PENSTOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", without_path(PLUGINS))
    servers, topics = broker.bootstrap_servers, Topics(broker.bootstrap_servers)
    class_path = f"{ensure_connect_jars(java, print)}/*:{jars.broker}/*"
    folder = tmp_path / "files"
    folder.mkdir()
    with (
        start_kafka_connect(
            tmp_path / "kc",
            KAFKA_CONNECT,
            servers,
            java,
            class_path,
            properties={"offset.flush.interval.ms": "1000"},
        ) as theirs,
        start_penstock(
            tmp_path / "ps",
            PENSTOCK,
            servers,
            # Kafka Connect's default.
            properties={"connector.client.config.override.policy": "All"},
        ) as ours,
    ):
        _warm_up(ours.client, tmp_path / "warm.txt")
        yield (
            Side(KAFKA_CONNECT, theirs.client.url, folder, topics),
            Side(PENSTOCK, ours.client.url, folder, topics),
        )


def _warm_up(ours: ConnectClient, file: Path) -> None:
    """While Spark starts, a status says so; Kafka Connect has nothing to start."""
    file.write_text("a line\n")
    ours.create("warm", {"connector.class": "FileStreamSource", "file": str(file), "topic": "warm"})
    eventually(lambda: ours.offsets("warm"), within=120, what="a first record")
    ours.delete("warm")


def _conversed(theirs: Side, ours: Side) -> list[Difference]:
    found: list[Difference] = []
    for step in CONVERSATION:
        left, right = theirs.play(step), ours.play(step)
        if isinstance(step, Ask) and left and right:
            found += differences(step.title, left.to_json(), right.to_json())
        elif left or right:
            found.append(Difference(f"waiting for {step}", "", left, right))
    return found


@pytest.mark.heavy
def test_the_same_answers_as_kafka_connect(sides: tuple[Side, Side]) -> None:
    found = _conversed(*sides)
    unknown = [d for d in found if not any(known.covers(d) for known in KNOWN)]
    past = [known for known in KNOWN if not any(known.covers(d) for d in found)]
    problems = [*map(str, unknown), *(f"no longer differs: {known}" for known in past)]
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)


def test_the_conversation_is_long_and_says_nothing_twice() -> None:
    titles = [step.title for step in CONVERSATION if isinstance(step, Ask)]
    assert len(titles) >= 120
    assert len(titles) == len(set(titles))
