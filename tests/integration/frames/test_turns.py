"""Turns of a Spark sink: ranges of a topic into files, once, whatever happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.engine.frames.errors import FormatError, UnreadableError, WriteError
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import (
    Outcome,
    Read,
    by_kafka_source,
    by_own_reader,
)
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.plugins.spark.decoding import Decoding
from penstock.sdk.errors import ConfigError
from spark_turns import SparkSink, run_sink
from topics import Topics

pytestmark = pytest.mark.heavy
JSON = Decoding("json", "id BIGINT, name STRING")
NUMBERS = SparkSink("json", Decoding("string"), ("CAST(value AS INT) AS n", "partition"))


@pytest.fixture(params=["own reader", "kafka source"])
def read(request: pytest.FixtureRequest, connection: Connection) -> Read:
    if request.param == "own reader":
        return by_own_reader(connection)
    return by_kafka_source({"bootstrap.servers": connection.bootstrap_servers})


@pytest.fixture
def own(connection: Connection) -> Read:
    return by_own_reader(connection)


@pytest.fixture
def plan(topic: str, tmp_path: Path) -> Callable[..., TurnPlan]:
    def make(*ranges: tuple[int, int, int], epoch: int = 0) -> TurnPlan:
        wanted = tuple(Range(topic, *each) for each in ranges)
        return TurnPlan(epoch, wanted, str(tmp_path / "out"), "config")

    return make


def _numbers(folder: Path) -> list[int]:
    lines = [
        line for file in folder.glob("turn=*/*.json") for line in file.read_text().splitlines()
    ]
    return sorted(json.loads(line)["n"] for line in lines)


def test_a_turn_writes_its_ranges_once(
    spark: SparkSession, plan: Callable[..., TurnPlan], read: Read, tmp_path: Path
) -> None:
    first = plan((0, 1, 6), (1, 0, 2))
    assert run_sink(spark, first, NUMBERS, read, worker_epoch=1) is Outcome.WRITTEN
    assert _numbers(tmp_path / "out") == [1, 2, 3, 4, 5, 100, 101]
    assert run_sink(spark, first, NUMBERS, read, worker_epoch=1) is Outcome.HAPPENED_BEFORE
    assert run_sink(spark, first, NUMBERS, read, worker_epoch=2) is Outcome.HAPPENED_BEFORE
    assert _numbers(tmp_path / "out") == [1, 2, 3, 4, 5, 100, 101]
    following = plan((0, 6, 9), (1, 2, 5))
    assert run_sink(spark, following, NUMBERS, read, worker_epoch=2) is Outcome.WRITTEN
    assert _numbers(tmp_path / "out") == [1, 2, 3, 4, 5, 100, 101, 102, 103]


def test_a_replay_after_a_rewind_is_written_again(
    spark: SparkSession, plan: Callable[..., TurnPlan], own: Read, tmp_path: Path
) -> None:
    for epoch in (0, 1):
        again = plan((0, 0, 2), epoch=epoch)
        assert run_sink(spark, again, NUMBERS, own, worker_epoch=1) is Outcome.WRITTEN
    assert _numbers(tmp_path / "out") == [0, 0, 1, 1]


def test_a_worker_that_is_overtaken_while_it_writes(
    spark: SparkSession, plan: Callable[..., TurnPlan], own: Read, tmp_path: Path
) -> None:
    turn = plan((0, 0, 3))

    def overtaken(session: SparkSession, ranges: list[Range]):
        assert run_sink(session, turn, NUMBERS, own, worker_epoch=2) is Outcome.WRITTEN
        return own(session, ranges)

    found = run_sink(spark, turn, NUMBERS, overtaken, worker_epoch=1)  # type: ignore[arg-type]  # as `own`
    assert found is Outcome.HAPPENED_BEFORE
    assert _numbers(tmp_path / "out") == [0, 1, 2]


@pytest.mark.parametrize("form", ["parquet", "orc", "json", "csv"])
def test_formats_read_back_by_spark(
    spark: SparkSession, topics: Topics, name: str, own: Read, tmp_path: Path, form: str
) -> None:
    topics.create(name)
    people = [{"id": n, "name": f"p{n % 2}"} for n in range(4)]
    topics.produce(name, [json.dumps(each).encode() for each in people])
    target = str(tmp_path / "people")
    turn = TurnPlan(0, (Range(name, 0, 0, 4),), target, "config")
    sink = SparkSink(form, JSON, ("value.*",), {"compression": "gzip"}, ("name",))
    if form == "orc":
        sink = SparkSink(form, JSON, ("value.*",), {}, ("name",))
    assert run_sink(spark, turn, sink, own, worker_epoch=1) is Outcome.WRITTEN
    frame = spark.read.format(form).load(target)
    found = frame.select("turn", "name", *[c for c in frame.columns if c in {"id", "_c0"}])
    rows = sorted((row.turn, int(row[2]), row.name) for row in found.collect())
    assert rows == [(turn.id, each["id"], each["name"]) for each in people]


def test_a_record_that_cannot_be_read_ends_the_turn(
    spark: SparkSession, topics: Topics, name: str, own: Read, tmp_path: Path
) -> None:
    topics.create(name)
    topics.produce(name, [b'{"id": 1}', b'{"id": "x', b'{"id": 3}'])
    turn = TurnPlan(0, (Range(name, 0, 0, 3),), str(tmp_path / "out"), "config")
    with pytest.raises(UnreadableError, match="was not written: a record cannot be read"):
        run_sink(spark, turn, SparkSink("parquet", JSON), own, worker_epoch=1)
    assert not list((tmp_path / "out").glob("turn=*"))


def test_what_cannot_be_written_is_said(
    spark: SparkSession, plan: Callable[..., TurnPlan], own: Read, tmp_path: Path
) -> None:
    turn = plan((0, 0, 2))
    with pytest.raises(FormatError, match='no format "delta" installed'):
        run_sink(spark, turn, SparkSink("delta"), own, worker_epoch=1)
    with pytest.raises(WriteError, match=r"was not written: .*nothing"):
        run_sink(spark, turn, SparkSink("json", select=("nothing",)), own, worker_epoch=1)
    bad = SparkSink("parquet", options={"compression": "zip"})
    with pytest.raises(WriteError, match=r"was not written: .*zip"):
        run_sink(spark, turn, bad, own, worker_epoch=1)
    with pytest.raises(ConfigError, match="JSON values need a schema"):
        Decoding("json")
    assert not list((tmp_path / "out").glob("turn=*"))
