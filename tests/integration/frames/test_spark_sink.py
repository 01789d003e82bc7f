"""The Spark sink through a real worker: topics into files of Spark's formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.client import ConnectClient, ConnectError
from sink_offsets import entry, in_group
from topics import Topics
from waiting import eventually

Make = Callable[..., None]
SCHEMA = "id BIGINT, name STRING"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def make(connectors: ConnectClient, topics: Topics, name: str, out: Path) -> Make:
    """Creates the test's sink, of a topic with two partitions that has the test's name."""
    topics.create(name, 2)

    def create(**keys: Any) -> None:
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        own = {"connector.class": "SparkSink", "topics": name, "path": str(out)}
        connectors.create(name, {**own, **config})

    return create


def people(topics: Topics, topic: str, numbers: range, partition: int = 0) -> None:
    values = [json.dumps({"id": n, "name": f"p{n % 2}"}).encode() for n in numbers]
    topics.produce(topic, values, partition=partition)


def await_end(topics: Topics, name: str) -> None:
    ends = [entry(name, p, end) for p in range(2) if (end := topics.end(name, p))]
    eventually(
        lambda: in_group(topics, f"connect-{name}") == ends, within=90, what="its last offsets"
    )


def ids(spark: SparkSession, form: str, out: Path) -> list[int]:
    return sorted(row.id for row in spark.read.format(form).load(str(out)).collect())


def failure(client: ConnectClient, name: str) -> str:
    def trace() -> str:
        return str((client.status(name)["tasks"] or [{}])[0].get("trace", ""))

    return eventually(trace, within=90, what="a failed task")


@pytest.mark.heavy
def test_topics_become_files_and_again_after_a_rewind(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    out: Path,
) -> None:
    people(topics, name, range(4))
    people(topics, name, range(10, 13), partition=1)
    make(
        value_format="json",
        value_schema=SCHEMA,
        select="value.*; partition",
        partition_by="name",
        format_options_compression="gzip",
        tasks_max=3,
    )
    await_end(topics, name)
    assert ids(spark, "parquet", out) == [0, 1, 2, 3, 10, 11, 12]
    assert list(out.glob("turn=*/name=p0/*.gz.parquet"))
    assert len(connectors.status(name)["tasks"]) == 1
    people(topics, name, range(4, 6))
    await_end(topics, name)
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 1)])
    connectors.resume(name)
    await_end(topics, name)
    found = ids(spark, "parquet", out)
    assert found == sorted([*range(6), *range(1, 6), 10, 11, 12])


@pytest.mark.heavy
def test_a_record_that_is_no_json_is_named_and_passed_by_altering_the_offset(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    out: Path,
) -> None:
    people(topics, name, range(2))
    topics.produce(name, [b'{"id": "x'])
    people(topics, name, range(2, 3))
    make(value_format="json", value_schema=SCHEMA, select="value.*", format="json")
    assert f"{name}-0 at offset 3" in failure(connectors, name)
    assert not list(out.glob("turn=*"))
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 4)])
    connectors.resume(name)
    await_end(topics, name)
    assert ids(spark, "json", out) == [2]


@pytest.mark.heavy
def test_a_schema_that_changes_inside_a_range(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    out: Path,
) -> None:
    """Fields that come and go are nothing; a field of another type ends the range, which is named
    and waits until the configuration has the type that both have."""
    values = [{"id": 1, "name": "a"}, {"id": 2, "name": "b", "more": [5]}, {"id": 3}]
    topics.produce(name, [json.dumps(each).encode() for each in values])
    make(value_format="json", value_schema=SCHEMA, select="value.*")
    await_end(topics, name)
    topics.produce(name, [json.dumps({"id": n, "name": "d"}).encode() for n in (4, "five", 6)])
    assert f"{name}-0 at offset 5" in failure(connectors, name)
    rows = spark.read.parquet(str(out)).collect()
    assert sorted((r.id, r.name) for r in rows) == [(1, "a"), (2, "b"), (3, None)]
    config = {**connectors.info(name)["config"], "value.schema": "id STRING, name STRING"}
    connectors.put_config(name, {**config, "select": "value.id AS text; value.name"})
    await_end(topics, name)
    merged = spark.read.option("mergeSchema", "true").parquet(str(out)).collect()
    assert {r.id for r in merged} == {1, 2, 3, None}
    assert {r.text for r in merged} == {"4", "five", "6", None}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"format": "delta"}, "spark.jars.packages=io.delta:delta-spark"),
        (
            {"format": "iceberg", "table": "lake.sales.people", "path": ""},
            "spark.jars.packages=org.apache.iceberg:iceberg-spark-runtime",
        ),
        ({"format_options_compression": "zip"}, "zip"),
        (
            {"format": "jdbc", "path": "", "format_options_url": "jdbc:nosuch:x"}
            | {"format_options_dbtable": "people"},
            "No suitable driver: give format.options.driver",
        ),
        ({"select": "nothing"}, "nothing"),
        ({"path": "/proc/nowhere"}, "/proc/nowhere cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    spark: SparkSession,
    make: Make,
    out: Path,
    keys: dict[str, str],
    words: str,
) -> None:
    """And once it can be written nothing is lost."""
    topics.produce(name, [b"1"])
    make(**keys)
    assert words in failure(connectors, name)
    assert in_group(topics, f"connect-{name}") in ([], [entry(name, 0, 0)])
    mended = {"connector.class": "SparkSink", "topics": name, "path": str(out)}
    connectors.put_config(name, mended)
    await_end(topics, name)
    assert [row.value for row in spark.read.parquet(str(out)).collect()] == ["1"]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"value_format": "json"}, "JSON values need a schema"),
        ({"select": "reflect('java.lang.System', 'exit', 1)"}, "may not use reflect"),
        ({"value_format": "yaml"}, "yaml"),
    ],
)
def test_configurations_that_are_refused(
    connectors: ConnectClient, make: Make, keys: dict[str, str], words: str
) -> None:
    with pytest.raises(ConnectError, match=words):
        make(**keys)


@pytest.mark.heavy
def test_a_format_without_files_is_appended_to(
    spark: SparkSession, topics: Topics, name: str, make: Make, tmp_path: Path
) -> None:
    """A database that comes with Spark, in a folder."""
    url = f"jdbc:derby:{tmp_path / 'derby'};create=true"
    people(topics, name, range(3))
    make(
        format="jdbc",
        path="",
        value_format="json",
        value_schema=SCHEMA,
        select="value.*",
        format_options_url=url,
        format_options_dbtable="people",
        format_options_driver="org.apache.derby.iapi.jdbc.AutoloadedDriver",
    )
    await_end(topics, name)
    people(topics, name, range(3, 5))
    await_end(topics, name)
    table = spark.read.jdbc(url, "people").collect()
    assert sorted(row.id for row in table) == list(range(5))
