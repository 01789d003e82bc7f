"""Topic to objects: each format of the object sink."""

from __future__ import annotations

import time
from functools import partial

from bench.bed import Bed
from bench.deliveries import LONGEST_SECONDS
from bench.line_files import LineFile
from bench.results import OURS, RowResult
from bench.rounds import interleaved
from bench.row import Row
from bench.rows.topic_to_file import filled
from bench.s3_server import S3Server
from bench.topic import Topic
from penstock.client.waiting import raise_if_failed, wait_until

FORMATS = ("jsonl", "json", "csv", "avro", "parquet")
OBJECTS = 10
LOOK_SECONDS = 0.1
STRING = "org.apache.kafka.connect.storage.StringConverter"


def topic_to_objects(bed: Bed) -> RowResult:
    """The same topic in each format, uncompressed."""
    lines = bed.lines(max(1000, bed.scale.lines // 2))
    topic = filled(bed, lines)
    with S3Server(bed.folder / bed.name("s3") / "buckets") as s3:
        sides = {
            f"{OURS}, {form}": partial(written, bed, s3, topic, lines, form) for form in FORMATS
        }
        for side, measure in sides.items():
            bed.say(f"warm-up, {side}: {measure():.3g}")
        figures = interleaved(bed.scale.rounds, sides, bed.say)
    topic.delete()
    return RowResult(
        unit="MB/s",
        sides=figures,
        notes=[
            f"{lines.lines:,} lines of {lines.payload_bytes / 1e6:,.0f} MB, counted as in the "
            f"topic, to {OBJECTS} objects with key, value, timestamp and headers, one task, until "
            "their offsets are committed. Exactly once."
        ],
    )


ROWS = (Row("topic-to-objects", "Topic to objects, one task", topic_to_objects),)


def written(bed: Bed, s3: S3Server, topic: Topic, lines: LineFile, form: str) -> float:
    """Let a sink write the topic; megabytes per second, from the request's answer."""
    name = bed.name(form)
    (s3.folder / name).mkdir()
    config = {
        **s3.place(name),
        "connector.class": "ObjectSink",
        "tasks.max": "1",
        "topics": topic.name,
        "format.output.type": form,
        "format.output.fields": "key,value,timestamp,headers",
        "file.compression.type": "none",
        "file.max.records": str(max(1, lines.lines // OBJECTS)),
        "file.max.bytes": "0",
        "key.converter": STRING,
        "value.converter": STRING,
    }
    try:
        started = bed.penstock.create(name, config)
        ended = _committed(bed, name, lines.lines)
        return lines.payload_bytes / 1e6 / (ended - started)
    finally:
        bed.penstock.delete(name)


def _committed(bed: Bed, name: str, records: int) -> float:
    client = bed.penstock.client

    def there() -> float | None:
        raise_if_failed(client, name)
        ends = [each["offset"]["kafka_offset"] for each in client.offsets(name) if each["offset"]]
        return time.perf_counter() if sum(ends) >= records else None

    return wait_until(there, f"all objects of {name}", LONGEST_SECONDS, LOOK_SECONDS)
