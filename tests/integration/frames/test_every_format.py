"""Records of a topic into files of each format, and from there into another topic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from format_jars import spark_jars
from penstock.embedded import Java
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
FORMATS = ("parquet", "orc", "json", "csv", "avro")
SCHEMA = "id BIGINT, name STRING, paid DOUBLE"
PEOPLE: list[dict[str, Any]] = [{"id": n, "name": f'p{n}, "ü"', "paid": n / 4} for n in range(20)]


def sink(topic: str, form: str, folder: Path) -> dict[str, str]:
    return {
        "connector.class": "SparkSink",
        "topics": topic,
        "format": form,
        "path": str(folder),
        "value.format": "json",
        "value.schema": SCHEMA,
        "select": "value.*",
    }


def source(topic: str, form: str, folder: Path) -> dict[str, str]:
    return {
        "connector.class": "SparkSource",
        "format": form,
        "path": str(folder),
        "topic": topic,
        "schema": SCHEMA,
        "list.interval.ms": "500",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }


def by_id(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["id"]))


def test_there_and_back(
    start: Callable[..., WorkerProcess], topics: Topics, name: str, java: Java, tmp_path: Path
) -> None:
    topics.create(name, 2)
    for partition in range(2):
        mine = [json.dumps(each).encode() for each in PEOPLE if each["id"] % 2 == partition]
        topics.produce(name, mine, partition=partition)
    worker = start(spark_jars=spark_jars(java, "avro"))
    for form in FORMATS:
        folder = tmp_path / form
        worker.client.create(f"{name}-into-{form}", sink(name, form, folder))
    for form in FORMATS:
        folder, back = tmp_path / form, f"{name}-{form}"
        topics.create(back)
        eventually(lambda: list(folder.glob("turn=*")), within=120, what=f"files of {form}")  # noqa: B023 (called at once)
        worker.client.create(f"{name}-of-{form}", source(back, form, folder))
    for form in FORMATS:
        back = f"{name}-{form}"
        eventually(lambda: topics.end(back) >= len(PEOPLE), within=120, what=f"rows of {form}")  # noqa: B023 (called at once)
        assert by_id([json.loads(v) for v in topics.values(back)]) == PEOPLE, form
