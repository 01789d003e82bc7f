"""Objects to topic: ours, by columns and by records, against a loop over the same objects."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from bench.bed import Bed
from bench.child import Child
from bench.connect_jars import s3_jars
from bench.deliveries import Delivery, deliver
from bench.moves import Config
from bench.object_sets import OBJECTS, ObjectSet, object_set
from bench.results import OURS, RowResult, Target
from bench.row import Row
from bench.rows.file_to_topic import measure
from bench.s3_server import KEY_ID, SECRET, S3Server
from bench.streaming import STREAMING, streaming
from bench.topic import Topic
from penstock.client.waiting import raise_if_failed
from penstock.embedded import find_java

LOOP = "plain loop"
NOTE = (
    f"{OBJECTS} objects of JSON lines in S3 (rclone). The loop reads them one after another with "
    "obstore, checks each line with orjson, and produces in transactions. All are exactly once, "
    "but the loop could not tell after a restart where it was."
)
BY_HAND = (
    f"{OBJECTS} objects of JSON lines in S3 (rclone), two tasks and two cores. Ours checks each "
    "line, and is exactly once. Structured Streaming takes lines as text, checks nothing, writes "
    "Kafka at least once, and lists every object for every batch."
)
STRING = "org.apache.kafka.connect.storage.StringConverter"


def one_task(bed: Bed) -> RowResult:
    """By columns, with one task."""
    return _against_the_loop(bed, lambda s3, found: by_penstock(bed, s3, found, 1), 1.3)


def beside_spark(bed: Bed) -> RowResult:
    """By columns, with two tasks, beside what one would write by hand."""
    jars = s3_jars(find_java(), bed.say)
    with _server(bed) as s3, streaming(bed, jars) as spark:
        spark.ask(f"s3 {s3.url} {KEY_ID} {SECRET}")
        small, large = _sets(bed, s3)
        sides: dict[str, Callable[[ObjectSet], Delivery]] = {
            OURS: lambda found: by_penstock(bed, s3, found, 2),
            STREAMING: lambda found: by_streaming(bed, spark, found),
        }
        for name, side in sides.items():
            rates = [side(found).records_per_second for found in (small, large)]
            bed.say(f"warm-up of {name}: {rates[-1]:,.0f}")
        figures, deliveries = measure(
            bed, {name: partial(side, large) for name, side in sides.items()}
        )
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(STREAMING, at_least=1.0)],
        notes=[BY_HAND, f"{large.lines:,} records, {large.payload_bytes / 1e6:,.0f} MB."],
        details={"deliveries": deliveries},
    )


def by_streaming(bed: Bed, spark: Child, found: ObjectSet) -> Delivery:
    """With the job, from when it was started."""
    topic = bed.topic(2)

    def start() -> float:
        started = time.perf_counter()
        spark.ask(f"files s3a://{found.bucket}/ {topic.name}")
        return started

    try:
        return deliver(topic, found.expected(), start, spark.check, committed=False)
    finally:
        spark.ask("stop")
        topic.delete()


def two_tasks(bed: Bed) -> RowResult:
    """By columns, with two."""
    return _against_the_loop(bed, lambda s3, found: by_penstock(bed, s3, found, 2), 1.8)


def by_record(bed: Bed) -> RowResult:
    """A task of the SDK that makes one record after the other."""
    return _against_the_loop(bed, lambda s3, found: by_records(bed, s3, found), 0.5)


ROWS = (
    Row("objects-to-topic-1", "Objects to topic, one task", one_task),
    Row("objects-to-topic-2", "Objects to topic, two tasks", two_tasks),
    Row("spark-objects-to-topic", "By hand in Spark: objects to topic", beside_spark),
    Row("objects-by-record", "Objects to topic, a task that makes records one by one", by_record),
)

Move = Callable[[S3Server, ObjectSet], Delivery]


def _against_the_loop(bed: Bed, ours: Move, at_least: float) -> RowResult:
    with _server(bed) as s3:
        small, large = _sets(bed, s3)
        for found in (small, small, large):
            rate = ours(s3, found).records_per_second
            bed.say(f"warm-up of penstock, {found.lines:,} records: {rate:,.0f}")
        by_loop(bed, s3, small)
        runs = {OURS: lambda: ours(s3, large), LOOP: lambda: by_loop(bed, s3, large)}
        figures, deliveries = measure(bed, runs)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(LOOP, at_least=at_least)],
        notes=[NOTE, f"{large.lines:,} records, {large.payload_bytes / 1e6:,.0f} MB."],
        details={"deliveries": deliveries},
    )


def _sets(bed: Bed, s3: S3Server) -> tuple[ObjectSet, ObjectSet]:
    lines = bed.scale.object_lines
    return object_set(s3.folder, lines // 8), object_set(s3.folder, lines)


@contextmanager
def _server(bed: Bed) -> Iterator[S3Server]:
    """With what the rows of one run share."""
    with S3Server(bed.folder / "objects" / "buckets") as s3:
        yield s3


def by_penstock(bed: Bed, s3: S3Server, found: ObjectSet, tasks: int) -> Delivery:
    """With the object source."""
    config = {
        **s3.place(found.bucket),
        "connector.class": "ObjectSource",
        "tasks.max": str(tasks),
        "input.format": "jsonl",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    return _by_connector(bed, config, found, tasks)


def by_records(bed: Bed, s3: S3Server, found: ObjectSet) -> Delivery:
    """With a connector of the bench's own."""
    config = {
        "connector.class": "RecordSource",
        "endpoint": s3.url,
        "bucket": found.bucket,
        "key.id": KEY_ID,
        "secret": SECRET,
        "key.converter": STRING,
        "value.converter": STRING,
    }
    return _by_connector(bed, config, found, 1)


def _by_connector(bed: Bed, config: Config, found: ObjectSet, partitions: int) -> Delivery:
    topic, name, worker = bed.topic(partitions), bed.name("objects"), bed.penstock
    try:
        return deliver(
            topic,
            found.expected(),
            lambda: worker.create(name, {**config, "topic": topic.name}),
            lambda: raise_if_failed(worker.client, name),
            committed=True,
        )
    finally:
        worker.delete(name)
        topic.delete()


def by_loop(bed: Bed, s3: S3Server, found: ObjectSet) -> Delivery:
    """With the loop, from when it begins to make its producer."""
    topic = bed.topic()
    try:
        with _loop(bed, s3, found, topic) as child:

            def start() -> float:
                child.tell("go")
                return time.perf_counter()

            return deliver(topic, found.expected(), start, child.check, committed=True)
    finally:
        topic.delete()


def _loop(bed: Bed, s3: S3Server, found: ObjectSet, topic: Topic) -> Child:
    brokers = bed.connection.bootstrap_servers
    place = (s3.url, found.bucket, KEY_ID, SECRET)
    return Child("bench.object_loop", brokers, topic.name, *place)
