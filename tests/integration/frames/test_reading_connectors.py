"""A source connector as a batch, by ``format("penstock")``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.heavy
Read = Callable[..., DataFrame]


def file_source(file: Path, **more: Any) -> str:
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": "lines"}
    return json.dumps({**config, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "lines.txt"
    found.write_text("one\ntwo\nthree\n")
    return found


def test_a_file_from_its_beginning_and_from_an_offset(read: Read, file: Path) -> None:
    frame = read(config=file_source(file), idleSeconds="0")
    assert frame.columns == ["topic", "partition", "key", "value", "timestamp", "headers"]
    assert [row.value for row in frame.collect()] == ["one", "two", "three"]
    assert [row.value for row in frame.collect()] == ["one", "two", "three"], "nothing is stored"
    offsets = [{"partition": {"filename": str(file)}, "offset": {"position": 4}}]
    later = read(config=file_source(file), offsets=json.dumps(offsets), idleSeconds="0")
    assert [row.value for row in later.collect()] == ["two", "three"]


def test_records_as_columns_from_many_tasks(read: Read) -> None:
    config = {
        "connector.class": "DatagenSource",
        "kafka.topic": "t",
        "quickstart": "users",
        "tasks.max": 2,
        "max.interval": 1,
    }
    frame = read(config=json.dumps(config), limit="20")
    rows = frame.select("value.*").collect()
    assert len(rows) == 40
    assert all(row.userid.startswith("User_") for row in rows)


def test_transforms_are_applied_and_converters_where_bytes_are_wanted(
    read: Read, file: Path
) -> None:
    hoist = {
        "transforms": "hoist",
        "transforms.hoist.type": "HoistField$Value",
        "transforms.hoist.field": "line",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    config = file_source(file, **hoist)
    rows = read(config=config, idleSeconds="0").select("value.line").collect()
    assert [row.line for row in rows] == ["one", "two", "three"]
    found = read(config=config, idleSeconds="0", values="bytes").collect()
    assert [bytes(row.value) for row in found][:1] == [b'{"line":"one"}']


def test_a_source_without_records_needs_a_schema(
    read: Read, spark: SparkSession, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.txt"
    empty.touch()
    with pytest.raises(PySparkException, match=r"no record from which Spark could learn"):
        read(config=file_source(empty), idleSeconds="0").collect()
    reader = spark.read.format("penstock").schema("value string, topic string")
    frame = reader.options(config=file_source(empty), idleSeconds="0").load()
    assert frame.collect() == []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"connector.class": "NoSuchSource"}, "NoSuchSource"),
        ({"connector.class": "FileStreamSource"}, 'Missing required configuration "topic"'),
        ({"connector.class": "FileStreamSink", "file": "f", "topics": "t"}, "only sources"),
    ],
)
def test_bad_configurations(read: Read, config: dict[str, str], said: str) -> None:
    with pytest.raises(PySparkException, match=said):
        read(config=json.dumps(config)).collect()


def test_a_value_that_does_not_fit_the_schema(read: Read, spark: SparkSession, file: Path) -> None:
    reader = spark.read.format("penstock").schema("value int")
    frame = reader.options(config=file_source(file), idleSeconds="0").load()
    with pytest.raises(PySparkException, match=r"a record has string in value, where the frame"):
        frame.collect()
