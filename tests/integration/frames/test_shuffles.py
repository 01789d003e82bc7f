"""A plan that ends in Kafka may not move records between tasks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from penstock.engine.frames.errors import ShuffleError
from penstock.engine.frames.shuffles import refuse_shuffles

pytestmark = pytest.mark.heavy

Make = Callable[[SparkSession], DataFrame]


def _shuffled_rdd(spark: SparkSession) -> DataFrame:
    pairs = spark.sparkContext.parallelize([(n, n) for n in range(10)], 2)
    return spark.createDataFrame(pairs.reduceByKey(max), "a int, b int")


SHUFFLES: dict[str, Make] = {
    "aggregate": lambda spark: spark.range(9).groupBy(sql.col("id") % 2).count(),
    "repartition": lambda spark: spark.range(9).repartition(3),
    "sort": lambda spark: spark.range(9).orderBy(sql.col("id") % 2),
    "distinct": lambda spark: spark.range(9).select(sql.col("id") % 2).distinct(),
    "join": lambda spark: spark.range(9).hint("merge").join(spark.range(9), "id"),
    "window": lambda spark: spark.range(9).selectExpr("lag(id) OVER (ORDER BY id)"),
    "subquery": lambda spark: spark.range(9).filter(
        sql.expr("id > (SELECT count(*) FROM range(3) WHERE id > 1)")
    ),
    "rdd": _shuffled_rdd,
}
NARROW: dict[str, Make] = {
    "project and filter": lambda spark: spark.range(9).filter("id > 2").selectExpr("id * 2 AS id"),
    "broadcast join": lambda spark: spark.range(9).join(sql.broadcast(spark.range(3)), "id"),
    "a Python hop": lambda spark: spark.range(9).mapInArrow(lambda batches: batches, "id bigint"),
    "union": lambda spark: spark.range(9).union(spark.range(9)),
    "coalesce": lambda spark: spark.range(0, 9, 1, 4).coalesce(1),
    "an RDD": lambda spark: spark.createDataFrame(
        spark.sparkContext.parallelize([(1,), (2,)], 2), "id int"
    ),
}


@pytest.mark.parametrize("make", SHUFFLES.values(), ids=SHUFFLES.keys())
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_refused(spark: SparkSession, make: Make, adaptive: str) -> None:
    with _adaptive(spark, adaptive), pytest.raises(ShuffleError, match="need a topic in between"):
        refuse_shuffles(make(spark))


@pytest.mark.parametrize("make", NARROW.values(), ids=NARROW.keys())
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_allowed(spark: SparkSession, make: Make, adaptive: str) -> None:
    with _adaptive(spark, adaptive):
        refuse_shuffles(make(spark))


class _adaptive:  # noqa: N801 (used as a function)
    """Whether Spark plans again while it runs."""

    def __init__(self, spark: SparkSession, value: str) -> None:
        self._spark = spark
        self._value = value

    def __enter__(self) -> None:
        self._spark.conf.set("spark.sql.adaptive.enabled", self._value)

    def __exit__(self, *_: object) -> None:
        self._spark.conf.unset("spark.sql.adaptive.enabled")
