"""A stream joined with a table: what the stage of the join finds in the topic of the table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from penstock.runtime.worker import Worker
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.frames import FrameTurn, TopicRange
from penstock.sql.catalog.query import BOOTSTRAP, PersistentQuery
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.running.home import Home
from persistent_cases import query_of, records
from topics import Topics

pytestmark = pytest.mark.heavy

LEFT_ROWS = {1: None, 3: "A", 5: "B", 7: None, 9: "C", 12: None, 15: "D"}
RIGHT_ROWS = {2: None, 4: "a", 6: "b", 8: None, 10: "c", 11: None, 13: None, 14: "d"}
INNER = [("B", "a"), ("D", "d")]
LEFT = [("A", None), ("B", "a"), ("C", None), ("D", "d")]


@dataclass
class Joining:
    """A query over a table in a real topic, and over frames of a stream."""

    spark: SparkSession
    topics: Topics
    name: str
    state: Path
    query: PersistentQuery
    _read: int = 0
    turns: QueryTurns = field(init=False)

    def __post_init__(self) -> None:
        self.anew()

    def anew(self) -> None:
        """As another worker would begin."""
        self.turns = QueryTurns(self.query, str(self.state))

    def table(self, rows: Iterable[tuple[Any, Any, int]], partition: int = 0) -> None:
        """Records of the table: key, value, time."""
        producer = Producer({"bootstrap.servers": self.topics.bootstrap_servers})
        for key, value, time in rows:
            content = value if isinstance(value, bytes | None) else json.dumps(value).encode()
            told = key if isinstance(key, bytes | None) else key.encode()
            producer.produce(self.name, content, told, partition, timestamp=time)
        assert not producer.flush(30)

    def stream(
        self, rows: list[list[Any]], *, partition: int = 0, more: int = 0
    ) -> list[tuple[Any, ...]]:
        """A turn: the values that come out. ``more`` are waiting in the stream behind them."""
        # As the contract has it: the records of a partition are in one of Spark's, in their order.
        frame = records(self.spark, "v", rows).withColumn("partition", lit(partition)).coalesce(1)
        stop = self._read = self._read + len(rows)
        ends = {TopicPartition("v", partition): stop + more}
        count = len(self.topics.admin.list_topics(self.name).topics[self.name].partitions)
        ends |= {TopicPartition(self.name, p): self.topics.end(self.name, p) for p in range(count)}
        turn = FrameTurn(
            "Q",
            (TopicRange("v", partition, stop - len(rows), stop),),
            ends,
            {"bootstrap.servers": self.topics.bootstrap_servers},
        )
        found = self.turns.build(frame, turn).collect()
        assert all(row.error is None for row in found)
        return [(row.key.decode(), *json.loads(row.value).values()) for row in found]


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    session = worker.herder._context.engine.session
    return Home(MagicMock(), MagicMock(), session.get).spark()


class Makes:
    def __init__(self, spark: SparkSession, topics: Topics, name: str, folder: Path) -> None:
        self._parts = (spark, topics, name, folder)

    def __call__(
        self,
        kind: str = "INNER",
        *,
        on: str = "v.k",
        key: str = "VARCHAR",
        key_format: str = "KAFKA",
        partitions: int = 1,
        bootstrap: str = "true",
    ) -> Joining:
        spark, topics, name, folder = self._parts
        # Rows have times of 1970, which the broker would delete for their age.
        topics.create(name, partitions, {"retention.ms": "-1"})
        stream = "CREATE STREAM v (k VARCHAR KEY, p VARCHAR) WITH (kafka_topic='v')"
        formats = f"kafka_topic='{name}', key_format='{key_format}'"
        table = f"CREATE TABLE u (id {key} PRIMARY KEY, name VARCHAR) WITH ({formats})"
        sql = f"CREATE STREAM o AS SELECT k, p, name FROM v {kind} JOIN u ON {on} = u.id"  # noqa: S608 (statements are what is tested here)
        if on != "v.k":
            sql = sql.replace("SELECT k, p", "SELECT p, k")
        case = {"sources": [{"declare": stream}, {"declare": table}], "sql": sql}
        query = replace(query_of(spark, case), properties={BOOTSTRAP: bootstrap}, store=name)
        return Joining(spark, topics, name, folder, query)


@pytest.fixture
def joins(spark: SparkSession, topics: Topics, name: str, tmp_path: Path) -> Makes:
    return Makes(spark, topics, name, tmp_path / "tables")


def named(value: str | None) -> Any:
    return None if value is None else {"name": value}


def page(value: str | None) -> Any:
    return None if value is None else {"p": value}


@pytest.mark.parametrize(("kind", "wanted"), [("INNER", INNER), ("LEFT", LEFT)])
def test_the_truth_table_by_times_alone(joins: Makes, kind: str, wanted: list[Any]) -> None:
    join = joins(kind, bootstrap="none")
    join.table((("k", named(value), time) for time, value in RIGHT_ROWS.items()))
    rows = [["k", page(value), time] for time, value in LEFT_ROWS.items()]
    assert join.stream(rows) == [("k", *pair) for pair in wanted]


@pytest.mark.parametrize(("kind", "wanted"), [("INNER", INNER), ("LEFT", LEFT)])
def test_the_truth_table_as_records_come(joins: Makes, kind: str, wanted: list[Any]) -> None:
    join, found = joins(kind), []
    for time in range(1, 16):
        if time in RIGHT_ROWS:
            join.table([("k", named(RIGHT_ROWS[time]), time)])
        else:
            found += join.stream([["k", page(LEFT_ROWS[time]), time]])
    assert found == [("k", *pair) for pair in wanted]


def test_of_equal_times_the_table_comes_first(joins: Makes) -> None:
    join = joins("LEFT")
    assert join.stream([["k", page("A"), 1]]) == [("k", "A", None)]
    join.table([("k", named("a"), 5), ("k", named("b"), 6)])
    rows = [["k", page("B"), 4], ["k", page("C"), 5], ["k", page("D"), 6]]
    assert join.stream(rows) == [("k", "B", None), ("k", "C", "a"), ("k", "D", "b")]


def test_a_table_is_loaded_before_the_first_row(joins: Makes) -> None:
    join = joins("LEFT")
    join.table([("k", named("a"), 500), ("k", named("b"), 400), ("gone", named("c"), 1)])
    join.table([("gone", None, 2), ("bad", named("good"), 3), ("bad", b"no JSON", 4)])
    rows = [["k", page("A"), 1], ["gone", page("B"), 2], [None, page("C"), 3]]
    assert join.stream([*rows, ["bad", page("D"), 4], ["other", page("E"), 5]]) == [
        ("k", "A", "b"),
        ("gone", "B", None),
        ("bad", "D", "good"),
        ("other", "E", None),
    ]


def test_a_stream_that_waits_lets_the_table_wait(joins: Makes) -> None:
    join = joins("LEFT")
    join.stream([["k", page("A"), 1]])
    join.table([("k", named("late"), 100)])
    assert join.stream([["k", page("B"), 2]], more=1) == [("k", "B", None)]
    assert join.stream([["k", page("C"), 3]]) == [("k", "C", None)], "its time has not come"
    assert join.stream([["k", page("D"), 4]]) == [("k", "D", "late")], "the stream was at its end"


def test_a_table_whose_folder_is_gone_is_loaded_again(joins: Makes) -> None:
    join = joins("LEFT")
    join.table([(f"k{n}", named(f"n{n}"), n) for n in range(200)])
    rows = [[f"k{n}", page("A"), 300] for n in (0, 199, 7)]
    before = join.stream(rows)
    assert before == [("k0", "A", "n0"), ("k199", "A", "n199"), ("k7", "A", "n7")]
    assert list(join.state.rglob("data.mdb"))
    shutil.rmtree(join.state)
    assert join.stream(rows) == before
    join.anew()
    assert join.stream(rows) == before


def test_keys_are_equal_however_their_json_is_written(joins: Makes) -> None:
    join = joins(key_format="JSON")
    enveloped = json.dumps({"schema": {"type": "string"}, "payload": "b"}).encode()
    join.table([(b'"a"', named("1"), 1), (enveloped, named("2"), 2)])
    rows = [["a", page("A"), 9], ["b", page("B"), 9]]
    assert join.stream(rows) == [("a", "A", "1"), ("b", "B", "2")]


def test_long_keys(joins: Makes) -> None:
    join = joins()
    long = "x" * 3000
    join.table([(long, named("1"), 1), (long + "y", named("2"), 2), (long, None, 3)])
    assert join.stream([[long, page("A"), 9], [long + "y", page("B"), 9]]) == [
        (long + "y", "B", "2")
    ]


def test_each_partition_has_its_part_of_the_table(joins: Makes) -> None:
    join = joins("LEFT", partitions=2)
    join.table([("k", named("zero"), 1)], partition=0)
    join.table([("k", named("one"), 1)], partition=1)
    assert join.stream([["k", page("A"), 5]], partition=0) == [("k", "A", "zero")]
    assert join.stream([["k", page("B"), 5]], partition=1) == [("k", "B", "one")]


def test_another_column_finds_rows_of_any_partition(joins: Makes) -> None:
    join = joins("LEFT", on="v.p", partitions=3)
    for number in range(3):
        join.table([(f"p{number}", named(f"n{number}"), 1)], partition=number)
    rows = [["k", page(f"p{number}"), 5] for number in range(4)]
    assert join.stream(rows, partition=7) == [
        ("p0", "k", "n0"),
        ("p1", "k", "n1"),
        ("p2", "k", "n2"),
        ("p3", "k", None),
    ]
