"""Topic to an index of OpenSearch: ours against a loop with the same requests."""

from __future__ import annotations

import time

from bench.bed import Bed
from bench.child import Child
from bench.deliveries import LONGEST_SECONDS, WrongContents
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.rows.topic_to_file import filled
from bench.search_server import SearchServer
from bench.topic import Topic
from penstock.client.waiting import raise_if_failed, wait_until

LOOP = "plain bulk loop"
PART = 10
"""A server indexes far fewer records in a second than a file takes lines."""
LOOK_SECONDS = 0.1


def topic_to_index(bed: Bed) -> RowResult:
    """The same topic into an index each."""
    count = max(1000, bed.scale.lines // PART)
    topic = filled(bed, bed.lines(count))
    folder = bed.folder / "search"
    folder.mkdir()
    brokers = bed.connection.bootstrap_servers
    with (
        SearchServer(folder, bed.java) as search,
        Child("bench.search_loop", brokers, search.url) as loop,
    ):
        rate = looped(bed, search, loop, topic, count)
        bed.say(f"warm-up of the loop: {rate:,.0f}")
        bed.say(f"warm-up of penstock: {indexed(bed, search, topic, count):,.0f}")
        figures = interleaved(
            bed.scale.rounds,
            {
                OURS: lambda: indexed(bed, search, topic, count),
                LOOP: lambda: looped(bed, search, loop, topic, count),
            },
            bed.say,
        )
    topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(LOOP, at_least=0.8)],
        notes=[
            "Both send 2000 documents in a request, to an index with one shard and the server's "
            "defaults. Ours has up to five requests under way, the loop one."
        ],
    )


ROWS = (Row("topic-to-index", "Topic to OpenSearch, one task", topic_to_index),)


def looped(bed: Bed, search: SearchServer, loop: Child, topic: Topic, count: int) -> float:
    """Let the loop index the topic; records per second, by its own clock."""
    name = bed.name("index")
    seconds = float(loop.ask(f"{topic.name} {count} {name}"))
    _check(search, name, count)
    return count / seconds


def indexed(bed: Bed, search: SearchServer, topic: Topic, count: int) -> float:
    """Let a sink index the topic; records per second, from the request's answer."""
    name = bed.name("index")
    config = {
        "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "tasks.max": "1",
        "topics": topic.name,
        "connection.url": search.url,
        "topic.index.map": f"{topic.name}:{name}",
        "key.ignore": "true",
        "schema.ignore": "true",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "transforms": "hoist",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
    }
    try:
        started = bed.penstock.create(name, config)
        ended = _full(bed, search, name, count)
        _check(search, name, count)
        return count / (ended - started)
    finally:
        bed.penstock.delete(name)


def _full(bed: Bed, search: SearchServer, name: str, count: int) -> float:
    def full() -> float | None:
        raise_if_failed(bed.penstock.client, name)
        return time.perf_counter() if search.indexed(name) >= count else None

    return wait_until(full, f"all documents of {name}", LONGEST_SECONDS, LOOK_SECONDS)


def _check(search: SearchServer, name: str, count: int) -> None:
    found = search.count(name)
    search.http.delete(f"/{name}").raise_for_status()
    if found != count:
        raise WrongContents(f"index {name} has {found} documents instead of {count}")
