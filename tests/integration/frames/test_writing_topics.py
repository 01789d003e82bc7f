"""A frame into topics, by ``format("penstock")``: a transaction for each task."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from penstock.embedded import EmbeddedBroker
from topics import Topics

pytestmark = pytest.mark.heavy
Write = Callable[..., None]


@pytest.fixture
def write(broker: EmbeddedBroker) -> Write:
    def write(frame: DataFrame, *, mode: str = "append", **options: str) -> None:
        servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
        frame.write.format("penstock").mode(mode).options(**servers, **options).save()

    return write


def test_keys_values_and_the_rest(
    spark: SparkSession, write: Write, topics: Topics, name: str
) -> None:
    topics.create(name, 2)
    frame = (
        spark.range(10)
        .selectExpr("id % 2 = 0 AS even", "id")
        .selectExpr(
            "CAST(id AS STRING) AS key",
            "IF(even, NULL, CONCAT('v', id)) AS value",
            f"'{name}' AS topic",
            "CAST(id % 2 AS INT) AS partition",
            "TIMESTAMP_MILLIS(1000 + id) AS timestamp",
            "ARRAY(NAMED_STRUCT('key', 'h', 'value', CAST('x' AS BINARY))) AS headers",
        )
    )
    write(frame)
    found = {int(m.key() or b""): m for m in topics.messages(name)}
    assert sorted(found) == list(range(10))
    assert all(m.partition() == n % 2 and m.timestamp()[1] == 1000 + n for n, m in found.items())
    assert {m.value() for n, m in found.items() if n % 2 == 0} == {None}
    assert found[3].value() == b"v3"
    assert found[3].headers() == [("h", b"x")]


def test_a_task_that_fails_leaves_nothing(
    spark: SparkSession, write: Write, topics: Topics, name: str
) -> None:
    topics.create(name)
    late = "IF(id = 99999, raise_error('too late'), CAST(id AS STRING)) AS value"
    with pytest.raises(PySparkException, match="too late"):
        write(spark.range(0, 100_000, 1, 1).selectExpr(late), topic=name)
    assert topics.values(name) == []
    assert topics.end(name, committed=False) > 0, "some were written, and rolled back"
    write(spark.range(0, 1000, 1, 3).selectExpr("CAST(id AS STRING) AS value"), topic=name)
    assert sorted(map(int, topics.values(name))) == list(range(1000))


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        (["id"], {"topic": "?"}, "need a column value"),
        (["CAST(id AS STRING) AS value"], {}, 'give option "topic"'),
        (["id AS value"], {"topic": "?"}, "column value is bigint: it has to be binary or string"),
        (["'' AS value", "id AS other"], {"topic": "?"}, "records have no column other"),
        (["'' AS value"], {"topic": "no-such-topic"}, "there is no topic"),
        (["'' AS value", "'t' AS topic"], {"topic": "?"}, "drop one of them"),
        (["'' AS value"], {"topic": "?", "acks": "1"}, 'no option "acks"'),
    ],
)
def test_frames_that_are_no_records(
    spark: SparkSession,
    write: Write,
    topic: str,
    columns: list[str],
    options: dict[str, str],
    said: str,
) -> None:
    given = {key: topic if value == "?" else value for key, value in options.items()}
    with pytest.raises(PySparkException, match=said):
        write(spark.range(1).selectExpr(*columns), **given)


def test_topics_are_never_overwritten(spark: SparkSession, write: Write, topic: str) -> None:
    with pytest.raises(PySparkException, match="only be appended to"):
        write(spark.range(1).selectExpr("'' AS value"), mode="overwrite", topic=topic)
