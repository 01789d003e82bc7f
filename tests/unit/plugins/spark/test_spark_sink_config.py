"""Expressions in the configuration of a Spark sink."""

from __future__ import annotations

import pytest

from penstock.plugins.spark.sink import SparkSinkConnector
from penstock.sdk.errors import ConfigError
from penstock.sdk.sql_expressions import expressions


def test_semicolons_separate_expressions() -> None:
    assert expressions("select", " value.* ; date(timestamp) AS day;") == [
        "value.*",
        "date(timestamp) AS day",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "reflect('java.lang.Runtime', 'getRuntime')",
        "`java_method`('java.lang.System', 'exit', 1)",
        "try_reflect('a', 'b')",
        "(SELECT first(value) FROM text.`/etc/passwd`)",
        "exists(table people)",
    ],
)
def test_expressions_reach_nothing_but_the_record(text: str) -> None:
    with pytest.raises(ConfigError, match="may not use"):
        expressions("select", text)


def test_words_in_literals_and_in_names_are_fine() -> None:
    assert expressions("select", "concat('select ', selected) AS reflection")


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"path": ""}, "path"),
        ({"path": "/elsewhere", "file.allowed.roots": "/data"}, "path"),
        ({"path": "file:/elsewhere", "file.allowed.roots": "/data"}, "path"),
        ({"path": "/data/x#/../../elsewhere", "file.allowed.roots": "/data"}, "path"),
        ({"path": "/data/x?/../../elsewhere", "file.allowed.roots": "/data"}, "path"),
        ({"path": "file://h/elsewhere", "file.allowed.roots": "/data"}, "path"),
        ({"path": "/x%2F../data/x", "file.allowed.roots": "/data"}, "path"),
        ({"path": "/data/x", "format": "other", "format.options.PATH": "/elsewhere"}, "path"),
        ({"path": "/data/x", "value.format": "json"}, "value.schema"),
        ({"path": "/data/x", "value.format": "csv"}, "value.schema"),
        ({"path": "/data/x", "value.schema": "id BIGINT"}, "value.schema"),
        ({"path": "/data/x", "select": "reflect('a')"}, "select"),
        ({"format": "Delta", "path": ""}, "path"),
        ({"format": "iceberg"}, "table"),
        ({"format": "iceberg", "table": "people"}, "table"),
        ({"format": "iceberg", "table": "lake.sales.x", "path": "/data/x"}, "table"),
        ({"path": "/data/x", "table": "lake.sales.people"}, "table"),
    ],
)
def test_what_a_configuration_may_not_say(config: dict[str, str], key: str) -> None:
    found = SparkSinkConnector().validate(config)
    assert [each for each, _ in found] == [key]


def test_what_it_may_say() -> None:
    sink = SparkSinkConnector()
    assert not sink.validate({"path": "/data/x", "file.allowed.roots": "/data"})
    assert not sink.validate({"path": "/data/x", "value.format": "converter"})
    assert not sink.validate({"path": "s3a://bucket/x", "file.allowed.roots": "/data"})
    assert not sink.validate({"path": "/data/a#b?c %41", "file.allowed.roots": "/data"})
    assert not sink.validate({"format": "jdbc"})
    assert not sink.validate({"format": "delta", "path": "/data/people"})
    assert not sink.validate({"format": "iceberg", "table": "lake.sales.people"})


def test_two_sinks_of_one_folder_are_noticed_whatever_they_call_it() -> None:
    sink = SparkSinkConnector()
    names = {
        sink.exclusive_targets({"path": path})["path"]
        for path in ("/data/x", "/data/x/", "file:/data/x", "file:///data/y/../x")
    }
    assert len(names) == 1
    assert sink.exclusive_targets({"format": "jdbc"}) == {}
