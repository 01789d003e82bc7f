"""The Spark sink through a real worker: topics into files of Spark's formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message
from pyspark.sql import SparkSession

from penstock.client import ConnectClient, ConnectError
from penstock.kafka.letter_headers import PREFIX
from played_registry import Played
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
def test_a_sink_that_begins_at_the_end(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    out: Path,
) -> None:
    """Where it begins is committed before there is anything to read."""
    people(topics, name, range(2))
    latest = {"consumer.override.auto.offset.reset": "latest"}
    make(value_format="json", value_schema=SCHEMA, select="value.*", **latest)
    starts = [entry(name, 0, topics.end(name, 0)), entry(name, 1, 0)]
    eventually(lambda: in_group(topics, f"connect-{name}") == starts, within=90, what="its starts")
    connectors.pause(name)
    people(topics, name, range(2, 4))
    people(topics, name, range(4, 5), partition=1)
    connectors.resume(name)
    await_end(topics, name)
    assert ids(spark, "parquet", out) == [2, 3, 4]


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
    said = failure(connectors, name)
    assert "Tolerance exceeded" in said
    assert f"{name}-0 at offset 3: the value is not JSON of the schema" in said
    assert f"alter its offset of {name}-0 to 4" in said
    assert ids(spark, "json", out) == [0, 1]
    assert in_group(topics, f"connect-{name}") == [entry(name, 0, 3)]
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 4)])
    connectors.resume(name)
    await_end(topics, name)
    assert ids(spark, "json", out) == [0, 1, 2]


ENVELOPE = {"type": "struct", "fields": [{"field": "id", "type": "int64", "optional": True}]}
AVRO = {"type": "record", "name": "Person", "fields": [{"name": "id", "type": "long"}]}
JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
AVRO_CONVERTER = "io.confluent.connect.avro.AvroConverter"


def in_json(number: int) -> bytes:
    return json.dumps({"id": number}).encode()


def in_envelope(number: int) -> bytes:
    return json.dumps({"schema": ENVELOPE, "payload": {"id": number}}).encode()


def in_avro(number: int) -> bytes:
    return b"\0" + (5).to_bytes(4, "big") + bytes([2 * number])


@pytest.fixture
def registry() -> Iterator[str]:
    played = Played()
    played.answer = (200, {"schema": json.dumps(AVRO)})
    with played.serving() as url:
        yield url


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("form", "converter", "encode"),
    [
        ("json", "", in_json),
        ("csv", "", lambda number: b"%d,x" % number),
        ("converter", JSON_CONVERTER, in_envelope),
        ("converter", AVRO_CONVERTER, in_avro),
    ],
)
def test_values_that_cannot_be_decoded_are_dead_letters(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    out: Path,
    registry: str,
    form: str,
    converter: str,
    encode: Callable[[int], bytes],
) -> None:
    """And the other records of their turns are written."""
    topics.produce(name, [encode(1), b"{bad", encode(2)])
    topics.produce(name, [b"{worse", encode(3)], partition=1)
    schema = "id BIGINT, name STRING" if form == "csv" else "id BIGINT"
    keys = {"key_converter": "org.apache.kafka.connect.storage.StringConverter"}
    if converter:
        keys["value_converter"] = converter
    if converter == AVRO_CONVERTER:
        keys["value_converter_schema_registry_url"] = registry
    make(
        value_format=form,
        value_schema=schema,
        select="value.id",
        errors_tolerance="all",
        errors_deadletterqueue_topic_name=f"{name}-letters",
        errors_deadletterqueue_topic_replication_factor=1,
        errors_deadletterqueue_context_headers_enable="true",
        **keys,
    )
    await_end(topics, name)
    assert ids(spark, "parquet", out) == [1, 2, 3]
    letters = {message.value(): told(message) for message in topics.messages(f"{name}-letters")}
    assert set(letters) == {b"{bad", b"{worse"}
    assert letters[b"{worse"]["partition"] == "1"
    assert letters[b"{bad"]["offset"] == "1"
    assert letters[b"{bad"]["stage"] == "VALUE_CONVERTER"
    assert not converter or letters[b"{bad"]["class.name"] == converter
    assert {task["state"] for task in connectors.status(name)["tasks"]} == {"RUNNING"}


def told(message: Message) -> dict[str, str]:
    headers: Any = message.headers() or []
    return {key.removeprefix(PREFIX): text.decode() for key, text in headers}


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
    assert sorted((r.id, r.name) for r in rows) == [(1, "a"), (2, "b"), (3, None), (4, "d")]
    config = {**connectors.info(name)["config"], "value.schema": "id STRING, name STRING"}
    connectors.put_config(name, {**config, "select": "value.id AS text; value.name"})
    await_end(topics, name)
    merged = spark.read.option("mergeSchema", "true").parquet(str(out)).collect()
    assert {r.id for r in merged} == {1, 2, 3, 4, None}
    assert {r.text for r in merged} == {"five", "6", None}


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
        ({"select": "value; offset AS Turn"}, "column Turn would be hidden"),
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
