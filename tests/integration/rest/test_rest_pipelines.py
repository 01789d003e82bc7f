"""Converters and transforms, from a connector's configuration to the bytes in the topic."""

from __future__ import annotations

import json
from pathlib import Path

from files import lines_of
from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"


def test_regex_router(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path: Path
) -> None:
    """A source's records go where the router says, and a sink sees the topic it makes."""
    routed = f"routed-{name}"
    topics.create(routed)
    router = {
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "(.*)",
        "transforms.route.replacement": "routed-$1",
    }
    scripted(count=5, **router)
    eventually(lambda: len(topics.values(routed)) == 5, what="routed records")
    assert topics.values(routed) == [f"0:{number}" for number in range(5)]
    assert topics.end(name, committed=False) == 0
    eventually(lambda: connectors.topics(name) == [routed], what="the routed topic")

    sink = f"{name}-sink"
    config = {"connector.class": "CollectingSink", "topics": routed, "out": str(tmp_path)}
    back = {**router, "transforms.route.regex": "routed-(.*)", "transforms.route.replacement": "$1"}
    connectors.create(sink, {**config, **back})
    file = tmp_path / "task-0.jsonl"
    eventually(lambda: len(lines_of(file)) == 5, what="the records of the sink")
    rows = [json.loads(line) for line in lines_of(file)]
    assert [row["topic"] for row in rows] == [name] * 5
    eventually(lambda: connectors.topics(sink) == [routed], what="the topic that it reads")


def test_json_with_schemas(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path: Path
) -> None:
    scripted(count=3, value_converter=JSON)
    eventually(lambda: len(topics.values(name)) == 3, what="records")
    envelopes = [
        {"schema": {"type": "string", "optional": False}, "payload": f"0:{number}"}
        for number in range(3)
    ]
    assert [json.loads(value) for value in topics.values(name)] == envelopes
    connectors.delete(name)

    out = tmp_path / "out.txt"
    config = {
        "connector.class": "FileStreamSink",
        "topics": name,
        "file": str(out),
        "value.converter": JSON,
    }
    connectors.create(f"{name}-sink", config)
    eventually(lambda: len(lines_of(out)) == 3, what="lines")
    assert out.read_text() == "0:0\n0:1\n0:2\n"
