"""Topic to topic: ours against MirrorMaker 2, with keys, headers and timestamps kept."""

from __future__ import annotations

import time
from functools import partial

from bench.bed import Bed
from bench.deliveries import Expected, deliver
from bench.rest_worker import RestWorker
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.topic import Topic
from bench.variants import Config, Variant, best
from penstock.client.waiting import raise_if_failed
from penstock.kafka import clients

MIRROR_MAKER = "mirrormaker 2"
PART = 4
"""Records with headers are more work than lines of a file."""
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
VARIANTS = (
    Variant("defaults", {}),
    Variant(
        "large polls and our producer's linger and batch size",
        {
            "consumer.max.poll.records": "10000",
            "consumer.max.partition.fetch.bytes": "16777216",
            "producer.override.linger.ms": "5",
            "producer.override.batch.size": "1000000",
        },
    ),
)


def mirroring(bed: Bed) -> RowResult:
    """The same topic into another one each, within one cluster."""
    count = max(1000, bed.scale.lines // PART)
    topic, expected = filled(bed, count)
    for _ in range(2):
        rate = mirrored(bed, bed.penstock, topic, expected, {})
        bed.say(f"warm-up of penstock: {rate:,.0f}")
    trial = partial(mirrored, bed, bed.kafka_connect, topic, expected)
    chosen, trials = best(VARIANTS, trial, bed.say)
    figures = interleaved(
        bed.scale.rounds,
        {
            OURS: lambda: mirrored(bed, bed.penstock, topic, expected, {}),
            MIRROR_MAKER: lambda: mirrored(bed, bed.kafka_connect, topic, expected, chosen.config),
        },
        bed.say,
    )
    topic.delete()
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(MIRROR_MAKER, at_least=1.0)],
        notes=[
            "One task, one partition, records with a key, a header and a timestamp of their own. "
            f"Ours is exactly once. MirrorMaker's, with {chosen.name}, is at least once."
        ],
        details={"mirrormaker_trials": trials},
    )


ROWS = (Row("mirror", "Topic to topic, one task", mirroring),)


def filled(bed: Bed, count: int) -> tuple[Topic, Expected]:
    """A topic with so many records."""
    topic = bed.topic()
    bed.say(f"filling a topic with {count:,} records")
    producer, size = clients.producer(bed.connection), 0
    first = int(time.time() * 1000) - count  # a broker deletes records that are days old
    with bed.lines(count).path.open("rb") as lines:
        for number, line in enumerate(lines):
            value = line.rstrip(b"\n")
            size += len(value)
            producer.produce(
                topic.name,
                value,
                b"key-%d" % number,
                timestamp=first + number,
                headers=[("number", b"%d" % number)],
            )
            if number % 10_000 == 0:
                producer.flush()
    producer.flush()
    return topic, Expected(count, size)


def mirrored(
    bed: Bed, worker: RestWorker, source: Topic, expected: Expected, more: Config
) -> float:
    """Let a connector mirror the topic; records per second, from the request's answer."""
    name = bed.name("mirror")
    servers = bed.connection.bootstrap_servers
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "tasks.max": "1",
        "source.cluster.alias": name,
        "source.cluster.bootstrap.servers": servers,
        "target.cluster.bootstrap.servers": servers,
        "topics": source.name,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        "consumer.isolation.level": "read_committed",
        "key.converter": BYTES,
        "value.converter": BYTES,
        "header.converter": BYTES,
        **more,
    }
    target = Topic(bed.connection, f"{name}.{source.name}")
    try:
        delivery = deliver(
            target,
            expected,
            lambda: worker.create(name, config),
            lambda: raise_if_failed(worker.client, name),
            committed=worker is bed.penstock,
        )
        return delivery.records_per_second
    finally:
        worker.delete(name)
        target.delete()
