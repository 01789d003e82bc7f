"""The protocol's rules, in the last stage of a frame turn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from frame_leases import frame_lease, left_membership
from penstock.embedded import EmbeddedBroker, Java
from penstock.engine.carriers.asking import Answerer
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.orders import decode_report_as, encode_report
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.kafka_turn import KafkaTurn
from penstock.engine.frames.task_output import run_task
from penstock.engine.frames.turn_order import TurnOrder
from penstock.engine.lease.lease import End
from penstock.kafka import transactions
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.kafka.transactions import Transactions
from penstock.sdk.frames import FrameTurn
from plain_spark import plain_spark
from python_path import PLUGINS, with_path
from sink_offsets import entry, in_group
from spark_cluster import spark_cluster
from topics import Topics

SUPPORT = Path(__file__).parents[2] / "support"
OUTPUT = pa.schema(
    [
        ("task", pa.int32()),
        ("topic", pa.string()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("partition", pa.int32()),
        ("timestamp", pa.int64()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("error", pa.string()),
    ]
)


@pytest.fixture
def lease(connection: Connection, topics: Topics, name: str) -> FrameLease:
    """Of a range of six records; the output is ``<name>-out``."""
    for topic in (name, f"{name}-out", f"{name}-copies"):
        topics.create(topic)
    topics.produce(name, [b"%d" % n for n in range(6)])
    return frame_lease(connection, name, Range(name, 0, 0, 6))


def rows(topic: str, values: list[bytes], task: int = 0) -> pa.RecordBatch:
    made = [{"task": task, "topic": topic, "value": value} for value in values]
    return pa.RecordBatch.from_pylist(made, schema=OUTPUT)


def acquire(lease: FrameLease) -> Transactions:
    return Transactions(lease.connection, lease.transactional_id)


def test_rows_offsets_and_copies_are_one_transaction(
    lease: FrameLease, topics: Topics, name: str
) -> None:
    batches = [rows(f"{name}-out", [b"a", b"b"]), rows(f"{name}-out", [b"c"])]
    report = run_task(lease, batches, lambda: True, acquire=acquire)
    assert (report.end, report.produced, report.records) == (End.DONE, 3, 6), report.trace
    assert topics.values(f"{name}-out") == ["a", "b", "c"]
    assert in_group(topics, f"connect-{name}") == [entry(name, 0, 6)]
    assert len(topics.values(f"{name}-copies")) == 1


def test_rule_3_a_worker_that_has_left_its_group_cannot_commit(
    connection: Connection, lease: FrameLease, topics: Topics, name: str
) -> None:
    """Its producer is the newest: only the membership in the transaction tells the broker."""
    standing = left_membership(connection, name)
    batches = [rows(f"{name}-out", [b"a"])]
    report = run_task(replace(lease, membership=standing), batches, lambda: True, acquire=acquire)
    assert report.end is End.LOST
    assert "UNKNOWN_MEMBER_ID" in report.trace
    assert topics.values(f"{name}-out") == []
    assert in_group(topics, f"connect-{name}") == []


def test_rule_1_a_task_that_was_fenced_cannot_commit(
    connection: Connection, lease: FrameLease, topics: Topics, name: str
) -> None:
    def fenced_meanwhile() -> Iterator[pa.RecordBatch]:
        yield rows(f"{name}-out", [b"a"])
        transactions.fence(connection, [lease.transactional_id])
        yield rows(f"{name}-out", [b"b"])

    report = run_task(lease, fenced_meanwhile(), lambda: True, acquire=acquire)
    assert report.end is End.LOST, report.trace
    assert topics.values(f"{name}-out") == []


def test_rule_10_a_task_that_starts_late_touches_nothing(
    lease: FrameLease, topics: Topics, name: str
) -> None:
    taken: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        taken.append(1)
        yield rows(f"{name}-out", [b"a"])

    report = run_task(lease, batches(), lambda: False, acquire=acquire)
    assert (report.end, taken) == (End.LOST, [])
    assert report.trace.startswith("Orphaned")
    assert topics.messages(f"{name}-out", committed=False) == []


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub("127.0.0.1")
    yield made
    made.close()


def turn(
    spark: SparkSession, lease: FrameLease, build: Callable[..., DataFrame], answerer: Answerer
) -> FrameReport:
    """The report of the only task of a large turn."""
    found = KafkaTurn(
        spark,
        TurnOrder(lease.connector, (lease,), build, headers=False),
        confirm=answerer.confirms,
        question=answerer.question,
        encode=encode_report,
        decode=lambda message: decode_report_as(FrameReport, message),
    ).run()
    [report] = found.reports
    assert isinstance(report, FrameReport)
    return report


def copied(records: DataFrame, told: FrameTurn) -> DataFrame:
    return records.selectExpr("task", f"'{told.connector}-out' AS topic", "value")


@pytest.mark.heavy
def test_a_turn_that_was_revoked_before_its_stage_began(
    spark: SparkSession, lease: FrameLease, hub: Hub, topics: Topics, name: str
) -> None:
    """Rule 10, in an executor: the stage asks, and is told no."""
    answerer = Answerer(hub, "", lambda: True)

    def revoked_meanwhile(records: DataFrame, told: FrameTurn) -> DataFrame:
        if told.ranges:
            answerer.revoke()
        return copied(records, told)

    report = turn(spark, lease, revoked_meanwhile, answerer)
    assert (report.end, report.trace[:8]) == (End.LOST, "Orphaned")
    assert topics.messages(f"{name}-out", committed=False) == []
    report = turn(spark, lease, copied, Answerer(hub, "", lambda: True))
    assert report.end is End.DONE, report.trace
    assert topics.values(f"{name}-out") == [str(n) for n in range(6)]


@pytest.mark.heavy
def test_an_error_before_the_stage_commits_nothing(
    spark: SparkSession, lease: FrameLease, hub: Hub, topics: Topics, name: str
) -> None:
    """Spark then ends the input of the stage as if that were all of it."""

    def spoilt(records: DataFrame, told: FrameTurn) -> DataFrame:
        broken = "IF(offset = 5, raise_error('five'), value) AS value"
        return records.selectExpr("task", f"'{name}-out' AS topic", broken)

    with pytest.raises(Exception, match="five"):
        turn(spark, lease, spoilt, Answerer(hub, "", lambda: True))
    assert topics.values(f"{name}-out") == []
    assert in_group(topics, f"connect-{name}") == []


@pytest.mark.heavy
def test_rule_4_a_reattempt_touches_nothing(
    lease: FrameLease,
    broker: EmbeddedBroker,
    java: Java,
    topics: Topics,
    name: str,
    tmp_path: Path,
) -> None:
    """The first attempt has committed when its process dies."""
    told = reattempted(broker, java, name, tmp_path, "local[2,4]", "process")
    assert told.startswith(f"{End.LOST} LeaseLost: Spark has tried"), told
    assert topics.values(f"{name}-out") == [str(n) for n in range(6)]


@pytest.mark.heavy
@pytest.mark.crowd
def test_rule_4_on_a_cluster_whose_executor_is_killed(
    lease: FrameLease,
    broker: EmbeddedBroker,
    java: Java,
    topics: Topics,
    name: str,
    tmp_path: Path,
) -> None:
    """As above; all processes of the first attempt are gone."""
    with spark_cluster(tmp_path, java) as spark:
        told = reattempted(broker, java, name, tmp_path, spark.address, "executor")
    assert told.startswith(f"{End.LOST} LeaseLost: Spark has tried"), told
    assert topics.values(f"{name}-out") == [str(n) for n in range(6)]


@pytest.mark.heavy
@pytest.mark.crowd
def test_rules_3_and_10_on_a_cluster(
    lease: FrameLease,
    broker: EmbeddedBroker,
    java: Java,
    topics: Topics,
    name: str,
    tmp_path: Path,
) -> None:
    """In an executor, whose worker has left its group, or no longer wants the turn."""
    with spark_cluster(tmp_path, java) as spark:
        for what, said in (("left", "UNKNOWN_MEMBER_ID"), ("late", "Orphaned")):
            ended = troubled(broker, java, name, tmp_path, spark.address, what)
            assert ended.stdout.startswith(f"{End.LOST} "), ended.stderr[-3000:]
            assert said in ended.stdout
            assert topics.values(f"{name}-out") == []
            assert in_group(topics, f"connect-{name}") == []


def reattempted(
    broker: EmbeddedBroker, java: Java, name: str, folder: Path, master: str, what: str
) -> str:
    """How a turn's task ended whose first attempt has died, or how its process failed."""
    ended = troubled(broker, java, name, folder, master, what)
    assert (folder / "mark").exists(), ended.stderr[-3000:]
    return ended.stdout or ended.stderr[-3000:]


def troubled(
    broker: EmbeddedBroker, java: Java, name: str, folder: Path, master: str, what: str
) -> subprocess.CompletedProcess[str]:
    """What ``troubled_turn_process.py`` has printed."""
    script = [sys.executable, str(SUPPORT / "troubled_turn_process.py")]
    return subprocess.run(
        [*script, broker.bootstrap_servers, name, str(folder / "mark"), master, what],
        env=plain_spark(folder / "spark", java, PYTHONPATH=with_path(PLUGINS)),
        capture_output=True,
        text=True,
        check=False,
    )
