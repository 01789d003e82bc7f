"""What is wrong with objects is in the dead letter topic, and everything else in the topic."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from object_sources import Objects
from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import ByteArrayConverter
from penstock.embedded import EmbeddedBroker
from penstock.engine.lease.lease import End, Tolerance
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.clients import Connection
from penstock.plugins.objects.source_task import ObjectSourceTask
from penstock.sdk.testing import PlayedSource
from source_leases import run_lease
from topics import Topics

WHOLE = 300_000


def pipeline() -> Pipeline:
    key, value = ByteArrayConverter(), JsonConverter()
    key.configure({}, is_key=True)
    value.configure({"schemas.enable": "false"}, is_key=False)
    return Pipeline(key, value)


def test_a_bad_record_and_a_cut_off_object(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    for topic in (name, f"{name}-offsets"):
        topics.create(topic)
    packed = gzip.compress(b"".join(b'{"n":%d}\n' % n for n in range(WHOLE)))
    more = {"errors.tolerance": "all", "file.compression.type": "gzip", "topic": name}
    objects = Objects({"local.folder": str(tmp_path)}, **more)
    objects.put_bytes("1", gzip.compress(b'{"n":-1}\n\xff\n{"n":-2}\n'))
    objects.put_bytes("2", packed[: len(packed) // 2])
    objects.put_bytes("3", gzip.compress(b'{"n":-3}\n'))
    connector = objects.connector()
    connector.start(dict(objects.config()))
    (config,) = PlayedSource(objects).task_configs(connector)
    tolerance = Tolerance(all_errors=True, dead_letter_topic=f"{name}-dead", context_headers=True)
    report = run_lease(
        Connection(broker.bootstrap_servers),
        name,
        tmp_path,
        config=config,
        task_class=ObjectSourceTask,
        pipeline=pipeline(),
        tolerance=tolerance,
    )
    assert report.end is End.DONE, report.trace
    numbers = [json.loads(value)["n"] for value in topics.values(name)]
    read = len(numbers) - 3
    assert numbers == [-1, -2, *range(read), -3]
    assert 0 < read < WHOLE
    bad, rest = topics.messages(f"{name}-dead")
    headers: list[dict[str, Any]] = [dict(letter.headers() or []) for letter in (bad, rest)]
    assert [letter.value() for letter in (bad, rest)] == [b"\xff", None]
    assert b"Record 2 of object 1" in headers[0]["__connect.errors.exception.message"]
    beyond = f"Object 2 cannot be read beyond record {read}: its gzip data is damaged".encode()
    assert beyond in headers[1]["__connect.errors.exception.message"]
    for each, key in zip(headers, ("1", "2"), strict=True):
        partition = json.loads(each["__connect.errors.source.partition"])
        assert partition == {"bucket": str(tmp_path), "objectKey": key}
        assert each["__connect.errors.stage"] == b"TASK_POLL"
    assert json.loads(headers[0]["__connect.errors.source.offset"])["recordCount"] == 2
    assert json.loads(headers[1]["__connect.errors.source.offset"])["recordCount"] == read
    assert {partition.get("objectKey") for _, partition, offset in report.positions if offset} == {
        None
    }
