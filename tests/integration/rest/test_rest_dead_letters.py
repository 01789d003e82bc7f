"""A sink's dead letters on a real worker, listed and replayed with `penstock dlq`."""

from __future__ import annotations

import pytest

from commands import Commands
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from topics import Topics
from waiting import eventually


@pytest.fixture
def penstock(
    broker: EmbeddedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Commands:
    return Commands(broker.bootstrap_servers, monkeypatch, capsysbinary)


def test_letters_of_a_sink_are_counted_and_come_once_more_if_replayed(
    connectors: ConnectClient, topics: Topics, collecting, penstock: Commands, name: str
) -> None:
    """What fails again is a new letter, which the same run does not send a second time."""
    dead = f"{name}-dead"
    topics.create(name)
    topics.produce(name, [b"1", b"{nonsense", b"2", b"{worse"])
    keys = {
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead,
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
    }
    collecting(**keys)

    def listed() -> dict[str, object]:
        found = penstock.done("dlq", "ls", "--url", connectors.url, "-o", "jsonl").objects()
        return next((each for each in found if each["topic"] == dead), {})

    eventually(lambda: listed().get("letters") == 2, what="both letters")
    assert listed() == {"topic": dead, "letters": 2, "exact": True, "connectors": [name]}
    shown = penstock.done("dlq", "show", dead, "--error", "RecordError").out
    assert f"{name}-0 at offset 1" in shown
    assert f"{name}-0 at offset 3" in shown
    replayed = penstock.done("dlq", "replay", dead, "--start", "0", "--end", "0")
    assert "1 letter replayed" in replayed.out
    eventually(lambda: listed().get("letters") == 3, what="the letter of the replayed record")
    assert topics.values(dead) == ["{nonsense", "{worse", "{nonsense"]
