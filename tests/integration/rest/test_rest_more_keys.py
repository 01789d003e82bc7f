"""Keys of Kafka Connect's that change what becomes of records, on a real worker."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.client import ConnectClient
from sink_offsets import collected
from topics import Topics
from waiting import eventually

ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
PREDICATES = "org.apache.kafka.connect.transforms.predicates"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
Headers = Sequence[tuple[str, bytes | None]]


def route(alias: str, to: str, predicate: str, *, negate: bool = False) -> dict[str, str]:
    prefix = f"transforms.{alias}."
    return {
        f"{prefix}type": ROUTER,
        f"{prefix}regex": "(.*)",
        f"{prefix}replacement": to,
        f"{prefix}predicate": predicate,
        f"{prefix}negate": str(negate).lower(),
    }


def test_a_sources_transforms_are_for_the_topics_that_are_meant(
    scripted, topics: Topics, name: str
) -> None:
    """The first makes another topic of it, which the second is not for any more."""
    topics.create(f"x-{name}")
    predicate = {"predicates.named.type": f"{PREDICATES}.TopicNameMatches"}
    scripted(
        count=5,
        transforms="first,second",
        predicates="named",
        **route("first", "x-$1", "named"),
        **route("second", "y-$1", "named"),
        **{**predicate, "predicates.named.pattern": name},
    )
    eventually(lambda: len(topics.values(f"x-{name}")) == 5, what="records")
    assert topics.values(f"x-{name}") == [f"0:{number}" for number in range(5)]


@pytest.mark.parametrize("converter", ["SimpleHeaderConverter", "JsonConverter"])
def test_headers_pass_and_say_which_records_are_meant(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path, converter: str
) -> None:
    """From a topic through a source into another, and from there into a sink."""
    sent: list[Headers] = [
        [("h", b"text"), ("n", b"1"), ("h", b"\xff\x00"), ("empty", b""), ("none", None)],
        [],
        [("other", b'{"a": 1}')],
        [("h", b"true")],
    ]
    topics.create(name)
    topics.create(f"copy.{name}")
    producer = topics.transaction(f"test-{name}")
    for number, headers in enumerate(sent):
        producer.produce(name, str(number), headers=list(headers))
    producer.commit_transaction(20)
    mirror = {
        "connector.class": "MirrorSource",
        "source.cluster.alias": "copy",
        "source.cluster.bootstrap.servers": topics.bootstrap_servers,
        "target.cluster.bootstrap.servers": topics.bootstrap_servers,
        "topics": name,
        "value.converter": BYTES,
        "header.converter": converter,
    }
    connectors.create(f"{name}-mirror", mirror)
    eventually(lambda: len(topics.messages(f"copy.{name}")) == len(sent), what="the copies")
    copied = [list(m.headers() or ()) for m in topics.messages(f"copy.{name}")]
    if converter == "JsonConverter":
        typed = {"schema": {"type": "int8", "optional": False}, "payload": 1}
        assert json.loads(copied[0][1][1] or b"") == typed
        sent[2] = [("other", b'{"a":1}')]  # a map, as SimpleHeaderConverter writes it
    else:
        assert copied == sent

    sink = {
        "connector.class": "CollectingSink",
        "topics": f"copy.{name}",
        "out": str(tmp_path),
        "header.converter": converter,
        "transforms": "r",
        "predicates": "tagged",
        "predicates.tagged.type": f"{PREDICATES}.HasHeaderKey",
        "predicates.tagged.name": "h",
        **route("r", "plain", "tagged", negate=True),
    }
    connectors.create(f"{name}-sink", sink)
    eventually(lambda: len(collected(tmp_path)) == len(sent), what="records in the sink")
    rows = collected(tmp_path)
    assert [row["value"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["topic"] for row in rows] == [f"copy.{name}", "plain", "plain", f"copy.{name}"]
    # The sink writes bytes as Python shows them.
    texts = [[(h["key"], h["value"]) for h in row["headers"] or ()] for row in rows]
    shown = [[(key, value if value is None else str(value)) for key, value in h] for h in sent]
    assert texts == shown


def test_an_interval_keeps_records_back(scripted, topics: Topics, name: str) -> None:
    interval = 4000
    scripted(count=5, transaction_boundary="interval", transaction_boundary_interval_ms=interval)
    eventually(lambda: topics.end(name, committed=False) >= 5, within=60, what="records")
    eventually(lambda: topics.end(name) > 5, within=60, what="the commit")
    waited = time.time() * 1000 - topics.messages(name)[0].timestamp()[1]
    assert waited > interval / 2
    assert len(topics.values(name)) == 5


def test_a_sink_that_begins_at_the_end(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Where it begins is committed before there is anything to read, of an empty topic too."""
    old, empty = f"{name}-old", f"{name}-empty"
    for topic in (old, empty):
        topics.create(topic)
    topics.produce(old, [b"1", b"2"])
    config = {
        "connector.class": "CollectingSink",
        "topics": f"{old},{empty}",
        "out": str(tmp_path),
        "consumer.override.auto.offset.reset": "latest",
    }
    connectors.create(name, config)

    def offsets() -> dict[str, int]:
        found = connectors.offsets(name)
        return {e["partition"]["kafka_topic"]: e["offset"]["kafka_offset"] for e in found}

    eventually(lambda: offsets() == {old: 3, empty: 0}, within=60, what="the starts")
    connectors.pause(name)
    for topic in (old, empty):
        topics.produce(topic, [b"3"])
    connectors.resume(name)

    def arrived() -> list[tuple[str, str]]:
        return sorted((row["topic"], row["value"]) for row in collected(tmp_path))

    eventually(lambda: arrived() == [(empty, "3"), (old, "3")], within=60, what="the new ones")
