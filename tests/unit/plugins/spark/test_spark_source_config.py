"""What a Spark source may be told, and how it names files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.plugins.spark.file_frames import FileFrames
from penstock.plugins.spark.hadoop_files import (
    PRINTED,
    comparable,
    folder_of,
    listed_here,
    on_this_machine,
)
from penstock.plugins.spark.row_records import RecordColumns
from penstock.plugins.spark.source import SparkSourceConnector
from penstock.sdk.errors import ConfigError, OffsetError, UserError
from pyspark_penstock.connectors import Run
from pyspark_penstock.options import ConnectorOptions, OptionError

FILES = {"format": "json", "path": "/data/in", "topic": "t"}
ROWS = {
    "format": "jdbc",
    "topic": "t",
    "format.options.url": "jdbc:derby:/db",
    "format.options.dbtable": "app.people",
    "incrementing.column.name": "id",
}


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({**FILES, "path": ""}, "path"),
        ({**FILES, "file.allowed.roots": "/elsewhere"}, "path"),
        ({**FILES, "path": "file:/da*/x", "file.allowed.roots": "/data"}, "path"),
        (
            {**FILES, "format": "delta", "path": "/data/x#/../../y", "file.allowed.roots": "/data"},
            "path",
        ),
        ({**FILES, "select": "reflect('a')"}, "select"),
        ({**FILES, "format.options.mode": "DROPMALFORMED"}, "format.options.mode"),
        (
            {**FILES, "format.options.ignoreMissingFiles": "true"},
            "format.options.ignoreMissingFiles",
        ),
        (
            {**FILES, "format.options.recursiveFileLookup": "x"},
            "format.options.recursiveFileLookup",
        ),
        ({**ROWS, "path": "/data"}, "path"),
        ({**ROWS, "format.options.numPartitions": "4"}, "format.options.numPartitions"),
        ({**ROWS, "format.options.url": ""}, "format.options.url"),
        ({**ROWS, "format.options.query": "SELECT 1"}, "format.options.dbtable"),
        ({**ROWS, "mode": "timestamp+incrementing"}, "timestamp.column.name"),
        ({**ROWS, "mode": "bulk"}, "incrementing.column.name"),
    ],
)
def test_what_a_configuration_may_not_say(config: dict[str, str], key: str) -> None:
    assert [each for each, _ in SparkSourceConnector().validate(config)] == [key]
    with pytest.raises(ConfigError, match=key):
        SparkSourceConnector().start(config)


def test_what_it_may_say() -> None:
    source = SparkSourceConnector()
    assert not source.validate(FILES)
    assert not source.validate({**FILES, "file.allowed.roots": "/data"})
    assert not source.validate({**FILES, "path": "s3a://b/x", "file.allowed.roots": "/data"})
    assert not source.validate(ROWS)


def test_a_table_has_one_task_and_files_as_many_as_share_the_virtual_buckets() -> None:
    for config, tasks in ((FILES, 64), (ROWS, 1)):
        source = SparkSourceConnector()
        source.start(config)
        assert len(source.task_configs(100)) == tasks


def test_offsets_of_files_and_of_a_table_can_be_altered_and_no_others() -> None:
    source = SparkSourceConnector()
    file = {"bucket": "/data/in", "objectKey": "a"}
    assert source.alter_offsets(FILES, [(file, None)]) == [(file, {"recordCount": 0})]
    with pytest.raises(OffsetError):
        source.alter_offsets(FILES, [({"bucket": "/other", "objectKey": "a"}, {"recordCount": 1})])
    table = {"protocol": "1", "table": "app.people"}
    assert source.alter_offsets(ROWS, [(table, {"incrementing": 3}), (table, None)]) is True
    with pytest.raises(OffsetError, match=r"app\.people"):
        source.alter_offsets(ROWS, [({**table, "table": "x"}, {"incrementing": 3})])
    with pytest.raises(OffsetError):
        source.alter_offsets(ROWS, [(table, {"incrementing": "x"})])


def test_where_the_files_of_a_pattern_are() -> None:
    assert folder_of("/in/logs") == "/in/logs"
    assert folder_of("/in/logs/2024-*/x.json") == "/in/logs"
    assert folder_of("s3a://b/{a,b}") == "s3a://b"
    assert comparable("file:/a%20b") == comparable("file:///a%20b")


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/data/a b%41#c?d", "/data/a b%41#c?d"),
        ("file:/data//x/../y", "/data/y"),
        ("FILE://host/data", "/data"),
        ("data/a:b", "data/a:b"),
        ("s3a://bucket/data", None),
        ("hdfs:/data", None),
    ],
)
def test_which_paths_are_of_this_machine(path: str, folder: str | None) -> None:
    assert on_this_machine(path) == folder


def test_files_of_this_machine_are_listed_as_hadoop_does(tmp_path: Path) -> None:
    (tmp_path / "a b%41").write_text("xyz")
    (tmp_path / "sub").mkdir()
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    found = {path: (folder, size) for path, folder, size, _ in listed_here(f"file:{tmp_path}")}
    assert found.pop(f"file:{tmp_path}/a b%41") == (False, 3)
    assert [folder for folder, _ in found.values()] == [True]
    (alone,) = listed_here(f"file:{tmp_path}/a b%41")
    assert alone[0] == f"file:{tmp_path}/a b%41"
    with pytest.raises(UserError, match="cannot be read"):
        list(listed_here(f"file:{tmp_path}/" + "x" * 300))


def test_what_hadoop_prints_of_files_is_understood() -> None:
    text = (
        "{S3AFileStatus{path=s3a://b/a b.txt; isDirectory=false; length=7; replication=1; "
        "blocksize=1; modification_time=12; access_time=0; owner=x} isEmptyDirectory=FALSE,"
        "HdfsNamedFileStatus{path=hdfs://h/c; isDirectory=true; modification_time=3; x=y}}"
    )
    assert PRINTED.findall(text) == [
        ("s3a://b/a b.txt", "false", "7", "12"),
        ("hdfs://h/c", "true", "", "3"),
    ]


def test_a_session_that_reads_connectors_says_that_spark_reads_this_itself() -> None:
    config = {**FILES, "connector.class": "SparkSource"}
    run = Run(ConnectorOptions(config, (), as_bytes=False, limit=None, idle_seconds=1.0))
    with pytest.raises(OptionError, match="Spark's own formats"):
        run.check()


@pytest.mark.parametrize(
    ("key", "schema", "options", "refused"),
    [
        ("day=1/a.json", "id, Day", {}, True),
        ("x/day=1/b=2/a.json", "id, b", {}, True),
        ("day=1/a.json", "id, day", {"BasePath": "/in"}, False),
        ("day=1/a.json", "id", {}, False),
        ("day/id=1.json", "id, day", {}, False),
    ],
)
def test_columns_that_are_in_the_names_of_folders_are_not_null_without_a_word(
    key: str, schema: str, options: dict[str, str], refused: bool
) -> None:
    frames = FileFrames("json", schema, options, ["*"], RecordColumns("t"))
    told: Any = SimpleNamespace(fieldNames=lambda: schema.split(", "))
    with pytest.raises(UserError, match="basePath") if refused else nullcontext():
        frames.refuse_hidden(told, ["a.json", key])


def test_without_a_schema_they_are_left_out() -> None:
    told: Any = SimpleNamespace(fieldNames=lambda: ["id", "day"])
    FileFrames("json", "", {}, ["*"], RecordColumns("t")).refuse_hidden(told, ["day=1/a.json"])
