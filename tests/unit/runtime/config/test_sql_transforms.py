"""What is refused of transforms in Spark SQL when a connector is created, without Spark."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from penstock.runtime.config.sql_transforms import sql_transform_errors
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.validation.validation import Validator
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.tasks import SourceTask

SINK = {"connector.class": "FileStreamSink", "name": "a", "topics": "t", "file": "f"}
SQL = {"transforms": "x", "transforms.x.type": "SparkSql"}


def errors(config: dict[str, str]) -> dict[str, str]:
    values = Validator(Plugins(), "g").validate(config).values
    return {value.name: value.errors[0] for value in values if value.errors}


def sql(**keys: str) -> dict[str, str]:
    return {**SINK, **SQL, **{f"transforms.x.{key}": value for key, value in keys.items()}}


@pytest.mark.parametrize(
    ("config", "key", "text"),
    [
        (sql(), "transforms.x.expression", "an expression, a where, or both"),
        (sql(expression="explode(value.a)"), "transforms.x.expression", "several rows of one"),
        (sql(where="count(*) > 1"), "transforms.x.where", "aggregate"),
        (sql(where="(SELECT 1)"), "transforms.x.where", "SELECT"),
        (sql(expression="upper(value.a"), "transforms.x.expression", "not closed"),
        (
            {
                **sql(where="TRUE", predicate="p"),
                "predicates": "p",
                "predicates.p.type": "RecordIsTombstone",
            },
            "transforms.x.predicate",
            "takes no predicate",
        ),
        (
            {
                **sql(where="TRUE"),
                "transforms": "x,y",
                "transforms.y.type": "SparkSql",
                "transforms.y.where": "TRUE",
            },
            "transforms.y.type",
            "one SparkSql",
        ),
        (
            {**sql(where="TRUE"), "connector.class": "SparkSink", "path": "/data"},
            "transforms.x.type",
            "has no transforms",
        ),
    ],
)
def test_what_is_refused(config: dict[str, str], key: str, text: str) -> None:
    found = errors(config)
    assert list(found) == [key]
    assert text in found[key]


def test_what_is_fine() -> None:
    assert not errors(sql(expression="value.*; upper(value.a) AS b", schema="a STRING"))
    source = {"connector.class": "FileStreamSource", "name": "a", "topic": "t", "file": "f"}
    assert not errors({**sql(where="value <> ''"), **source, "topics": "t"} | {"topics": "t"})


class ToldTask(SourceTask):
    def start(self, config: Any, offsets: Any) -> None: ...

    def poll(self) -> None: ...

    def committed(self, offsets: Any) -> None: ...


class ToldConnector(SourceConnector):
    task_class: ClassVar[type[SourceTask]] = ToldTask


def test_a_source_that_wants_to_learn_what_is_committed() -> None:
    [(key, text)] = sql_transform_errors(Plugins(), Plugin(ToldConnector), sql(where="TRUE"))
    assert key == "transforms.x.type"
    assert "want to learn what is committed" in text
