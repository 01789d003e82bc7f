"""Every built-in connector declares what it guarantees, for each configuration."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest

from penstock.engine.frames.formats import FILES, promise
from penstock.engine.frames.places import ATOMIC
from penstock.plugins.spark.sink import SparkSinkConnector
from penstock.runtime.plugins import Plugins
from penstock.sdk import Connector, FrameConnector, FrameSourceConnector, Guarantee
from penstock.sdk.guarantees import described
from project_scripts import ROOT

PLUGINS = Plugins()
EXACTLY, AT_LEAST = Guarantee.EXACTLY_ONCE, Guarantee.AT_LEAST_ONCE
OURS = [each.cls for each in PLUGINS.connectors if each.cls.__module__.startswith("penstock.")]


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.__name__)
def test_each_declares_its_guarantee(cls: type[Connector]) -> None:
    assert cls.guarantee is not None
    assert cls.guarantee_of(dict(cls.example)) is cls.guarantee
    varies = "guarantee_of" in vars(cls)
    assert varies == (AT_LEAST.value in cls.guarantee_limits), "the limits name what is weaker"


WITH_TASKS = [cls for cls in OURS if not issubclass(cls, FrameConnector | FrameSourceConnector)]


@pytest.mark.parametrize("cls", WITH_TASKS, ids=lambda cls: cls.__name__)
def test_each_with_tasks_is_in_the_contract_kit(cls: type[Connector]) -> None:
    """What Spark runs as jobs has no tasks that the kit could end."""
    named = re.compile(rf"^    connector(: .+)? = {cls.__name__}$", re.MULTILINE)
    files = (file.read_text() for file in (ROOT / "tests").rglob("*.py"))
    assert any(named.search(text) for text in files)


DEPENDING: list[tuple[str, dict[str, str], Guarantee]] = [
    ("FileStreamSink", {"tasks.max": "1"}, EXACTLY),
    ("FileStreamSink", {"tasks.max": "2"}, AT_LEAST),
    ("JdbcSource", {"mode": "timestamp+incrementing"}, EXACTLY),
    ("JdbcSource", {"mode": "BULK"}, AT_LEAST),
    ("MirrorSource", {"consumer.isolation.level": "read_committed"}, EXACTLY),
    ("MirrorSource", {"consumer.isolation.level": "read_uncommitted"}, AT_LEAST),
    ("MirrorSource", {"source.consumer.isolation.level": "read_uncommitted"}, AT_LEAST),
    ("ElasticsearchSink", {"write.method": "insert"}, EXACTLY),
    ("ElasticsearchSink", {"write.method": "UPSERT"}, AT_LEAST),
    ("ElasticsearchSink", {"write.method": "upsert", "key.ignore": "true"}, EXACTLY),
    ("SparkSource", {"format": "parquet"}, EXACTLY),
    ("SparkSource", {"format": "delta"}, EXACTLY),
    ("SparkSource", {"format": "jdbc", "mode": "timestamp"}, EXACTLY),
    ("SparkSource", {"format": "jdbc", "mode": "bulk"}, AT_LEAST),
    ("SparkSink", {"format": "iceberg", "path": "", "table": "a.b.c"}, EXACTLY),
    ("SparkSink", {"format": "JSON", "path": "/data"}, EXACTLY),
    ("SparkSink", {"format": "json", "path": "s3a://bucket/data"}, AT_LEAST),
    ("SparkSink", {"format": "jdbc", "path": ""}, AT_LEAST),
]


@pytest.mark.parametrize(("name", "config", "expected"), DEPENDING)
def test_it_may_depend_on_the_configuration(name: str, config: Any, expected: Guarantee) -> None:
    cls = PLUGINS.connector(name).cls
    assert cls.guarantee_of({**cls.example, **config}) is expected


def test_what_spark_writes_is_declared_as_turns_promise_it() -> None:
    schemes = ["", "file:", *(f"{scheme}://a" for scheme in (*ATOMIC - {"file"}, "s3a", "gs"))]
    for name, scheme in product((*FILES, "delta", "iceberg", "jdbc"), schemes):
        path = f"{scheme}/data"
        declared = SparkSinkConnector.guarantee_of({"format": name, "path": path})
        assert declared is not None
        assert promise(name, path).startswith(declared.value), (name, path)


def test_people_are_told_what_it_depends_on() -> None:
    assert described(EXACTLY, "") == "exactly once"
    assert described(AT_LEAST, "since it is slow") == "at least once since it is slow"
    assert described(None, "anything") == ""
