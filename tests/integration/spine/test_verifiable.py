"""Verifiable source to verifiable sink: what was sent and committed arrives, without a gap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually

NUMBERS = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "true",
}


def told(report: Path, mark: str) -> list[dict[str, Any]]:
    text = report.read_text() if report.exists() else ""
    whole = (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))
    return [line for line in whole if line.get(mark)]


def test_what_is_sent_arrives(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    topics.create(name, partitions=2)
    sent, given = tmp_path / "sent", tmp_path / "given"
    tools = "org.apache.kafka.connect.tools."
    source = {"connector.class": tools + "VerifiableSourceConnector", "topic": name}
    speed = {"throughput": "200", "tasks.max": "2", "report.file": str(sent)}
    connectors.create(f"{name}-source", {**NUMBERS, **source, **speed})
    sink = {"connector.class": "VerifiableSink", "topics": name, "report.file": str(given)}
    connectors.create(f"{name}-sink", {**NUMBERS, **sink})
    eventually(lambda: len(told(given, "flushed")) >= 500, what="some records")
    connectors.stop(f"{name}-source")
    committed = [(line["task"], line["seqno"]) for line in told(sent, "committed")]
    for task in (0, 1):
        mine = [seqno for owner, seqno in committed if owner == task]
        assert mine == list(range(len(mine)))
    eventually(lambda: len(told(given, "flushed")) >= len(committed), what="all of them")
    arrived = [line["seqno"] for line in told(given, "flushed")]
    assert sorted(arrived) == sorted(number for _, number in committed)
