"""The Spark source through a real worker: files of Spark's formats into topics."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually

Make = Callable[..., None]
STRANGE = "a b%41#é{1}[2];.txt"
PLAIN = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    (made / "sub").mkdir(parents=True)
    return made


@pytest.fixture
def make(connectors: ConnectClient, name: str, folder: Path) -> Make:
    """Creates the test's source, into a topic that has the test's name."""

    def create(**keys: Any) -> None:
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        own = {
            "connector.class": "SparkSource",
            "path": str(folder),
            "topic": name,
            "list.interval.ms": "300",
            "tasks.max": "2",
        }
        connectors.create(name, {**own, **config})

    return create


def await_values(topics: Topics, topic: str, values: Sequence[str]) -> None:
    """All of them have come, and each as often as it should."""
    wanted = Counter(values)
    eventually(
        lambda: Counter(topics.values(topic)) == wanted, within=90, what="these records", every=0.2
    )


def entry(folder: Path, file: str, offset: dict[str, Any] | None) -> dict[str, Any]:
    return {"partition": {"bucket": str(folder), "objectKey": file}, "offset": offset}


def failure(client: ConnectClient, name: str) -> str:
    def trace() -> str:
        return str((client.status(name)["tasks"] or [{}])[0].get("trace", ""))

    return eventually(trace, within=90, what="a failed task")


def test_lines_of_files_come_once_and_are_64_marks_at_the_most(
    connectors: ConnectClient, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    (folder / STRANGE).write_text("one\ntwo\n")
    (folder / "sub" / "m.txt").write_text("three\n")
    (folder / "_hidden.txt").write_text("never\n")
    make(format="text")
    await_values(topics, name, ["one", "two", "three"])
    listed = eventually(lambda: connectors.offsets(name), what="offsets")
    assert all("virtualBucket" in each["partition"] for each in listed)
    assert "FileScan text" in eventually(lambda: connectors.plan(name), what="Spark's plan")


@pytest.mark.heavy
def test_files_that_are_new_late_changed_and_read_again(
    connectors: ConnectClient, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    values = ["one", "two", "three", "four"]
    (folder / STRANGE).write_text("one\ntwo\n")
    (folder / "sub" / "m.txt").write_text("three\n")
    (folder / "z.txt").write_text("four")
    make(format="text", list_interval_ms=200, rescan_interval_ms=200)
    await_values(topics, name, values)
    (folder / "0-late.txt").write_text("five\n")
    (folder / "z.txt").write_text("four\nsix\n")  # changed: read again
    values += ["five", "four", "six"]
    await_values(topics, name, values)
    listed = [each["partition"] for each in connectors.offsets(name)]
    assert all("virtualBucket" in partition for partition in listed)
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(folder, STRANGE, None)])
    connectors.resume(name)
    values += ["one", "two"]
    await_values(topics, name, values)
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(folder, STRANGE, {"recordCount": 1})])
    connectors.resume(name)
    values += ["two"]
    await_values(topics, name, values)


@pytest.mark.heavy
def test_json_with_a_line_that_is_none_and_columns_of_the_record(
    connectors: ConnectClient, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    topics.create(name, 2)
    lines = ['{"id": 1, "to": 1, "at": 1700000000000}', "{oops", '{"id": 2, "to": 0}']
    (folder / "a.json").write_text("\n".join(lines))
    make(
        format="json",
        schema="id BIGINT, to INT, at BIGINT",
        key_column="id",
        partition_column="to",
        timestamp_column="at",
        select="*; _metadata.file_name AS file",
        key_converter="org.apache.kafka.connect.storage.StringConverter",
        errors_tolerance="all",
        errors_deadletterqueue_topic_name=f"{name}-dead",
        errors_deadletterqueue_topic_replication_factor=1,
        **{key.replace(".", "_"): value for key, value in PLAIN.items()},
    )
    eventually(lambda: len(topics.values(name)) == 2, within=90, what="two records")
    second, first = topics.messages(name)
    assert (first.partition(), first.key(), first.timestamp()[1]) == (1, b"1", 1700000000000)
    assert (second.partition(), second.key()) == (0, b"2")
    assert json.loads(first.value() or b"")["file"] == "a.json"
    eventually(lambda: topics.values(f"{name}-dead") == ["{oops"], what="a dead letter")


@pytest.mark.heavy
def test_a_line_that_is_no_json_fails_the_task_and_what_is_before_it_is_there(
    connectors: ConnectClient, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    (folder / "a.json").write_text('{"id": 1}\n{oops\n{"id": 3}\n')
    json_keys = {key.replace(".", "_"): value for key, value in PLAIN.items()}
    make(format="json", schema="id BIGINT", value_column="id", **json_keys)
    assert "{oops" in failure(connectors, name)
    assert topics.values(name) == ["1"]
    listed = connectors.offsets(name)
    assert [each["offset"]["recordCount"] for each in listed] == [1]
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(folder, "a.json", {"recordCount": 2})])
    connectors.resume(name)
    await_values(topics, name, ["1", "3"])


@pytest.mark.heavy
def test_parquet_whose_columns_change_between_files(
    spark: SparkSession, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    """More columns are merged; a column of another type is read by itself."""
    write(spark, folder, "a", "SELECT 1L AS id, 'x' AS name")
    write(spark, folder, "b", "SELECT 2L AS id, true AS more")
    write(spark, folder, "c", "SELECT 'three' AS id")
    json_keys = {key.replace(".", "_"): value for key, value in PLAIN.items()}
    make(format="parquet", **json_keys)
    eventually(lambda: len(topics.values(name)) == 3, within=90, what="three records")
    found = [json.loads(value) for value in topics.values(name)]
    assert sorted(str(each["id"]) for each in found) == ["1", "2", "three"]
    assert {"x", True} <= {value for each in found for value in each.values()}


@pytest.mark.heavy
def test_columns_in_the_names_of_folders(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    folder: Path,
    make: Make,
) -> None:
    """As SparkSink's partition.by leaves them: read below basePath, and never null instead."""
    rows = spark.createDataFrame([(1, "a"), (2, "b")], "id BIGINT, name STRING")
    rows.write.partitionBy("name").parquet(str(folder / "people"))
    make(format="parquet", schema="id BIGINT, name STRING", **PLAIN)
    assert "format.options.basePath" in failure(connectors, name)
    config = connectors.info(name)["config"]
    connectors.put_config(name, {**config, "format.options.basePath": str(folder / "people")})
    await_values(topics, name, ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}'])


@pytest.mark.heavy
def test_a_damaged_file_is_a_dead_letter_and_the_others_are_read(
    spark: SparkSession, topics: Topics, name: str, folder: Path, make: Make
) -> None:
    for file in ("a", "c"):
        write(spark, folder, file, f"SELECT '{file}' AS id")
    (folder / "b.parquet").write_text("this is no parquet")
    make(
        format="parquet",
        value_column="id",
        errors_tolerance="all",
        errors_deadletterqueue_topic_name=f"{name}-dead",
        errors_deadletterqueue_topic_replication_factor=1,
    )
    await_values(topics, name, ["a", "c"])
    await_values(topics, f"{name}-dead", ["b.parquet"])


def write(spark: SparkSession, folder: Path, file: str, query: str) -> None:
    """One parquet file of that name."""
    aside = folder.parent / f"aside-{file}"
    spark.sql(query).coalesce(1).write.parquet(str(aside))
    (made,) = aside.glob("*.parquet")
    made.rename(folder / f"{file}.parquet")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"format": "avro"}, 'no format "avro" installed'),
        ({"format": "text", "path": "/nowhere/at/all"}, "There is no /nowhere/at/all"),
        ({"format": "text", "path": "nofs://x/y"}, "nofs"),
        ({"format": "text", "key_column": "id"}, "there is no column id"),
        ({"format": "text", "select": "explode(split(value, ' ')) AS value"}, "explode"),
        ({"format": "text", "select": "count(*) AS value"}, "GROUP BY"),
        ({"format": "text", "select": "nothing"}, "nothing"),
        ({"format": "csv", "format_options_maxColumns": "x"}, "maxColumns"),
        ({"format": "parquet"}, "a.txt"),
    ],
)
def test_what_cannot_be_read_is_said(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    folder: Path,
    make: Make,
    keys: dict[str, str],
    words: str,
) -> None:
    (folder / "a.txt").write_text("one\n")
    make(**keys)
    assert words in failure(connectors, name)
    assert "\tat " not in failure(connectors, name)
    assert connectors.offsets(name) == []
    assert topics.values(name) == []


@pytest.mark.heavy
def test_rows_of_a_database_by_their_number(
    spark: SparkSession,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    make: Make,
    tmp_path: Path,
) -> None:
    """A database that comes with Spark, in a folder."""
    url = f"jdbc:derby:{tmp_path / 'derby'};create=true"
    driver = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}

    def insert(numbers: range) -> None:
        rows = spark.createDataFrame([(n, f"p{n}") for n in numbers], "id BIGINT, name STRING")
        rows.write.jdbc(url, "people", "append", driver)

    insert(range(1, 4))
    make(
        format="jdbc",
        path="",
        format_options_url=url,
        format_options_dbtable="people",
        format_options_driver=driver["driver"],
        incrementing_column_name="id",
        value_column="name",
    )
    await_values(topics, name, ["p1", "p2", "p3"])
    insert(range(5, 7))
    await_values(topics, name, ["p1", "p2", "p3", "p5", "p6"])
    (listed,) = connectors.offsets(name)
    assert listed == {
        "partition": {"protocol": "1", "table": "people"},
        "offset": {"incrementing": 6},
    }
    connectors.stop(name)
    connectors.alter_offsets(name, [{**listed, "offset": {"incrementing": 5}}])
    connectors.resume(name)
    await_values(topics, name, ["p1", "p2", "p3", "p5", "p6", "p6"])
