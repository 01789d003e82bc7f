"""Turns of a Spark sink, without a worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.sifted import checked
from penstock.engine.frames.turn import Outcome, Read, run_turn
from penstock.plugins.spark.decoding import ERROR, Decoding, decoded, readable
from penstock.sdk.frames import FormatEnd, FrameTurn


@dataclass(frozen=True)
class SparkSink:
    """What a turn writes. Where it writes is in its plan."""

    format: str = "parquet"
    decoding: Decoding = field(default_factory=Decoding)
    select: tuple[str, ...] = ("*",)
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()


def run_sink(
    spark: SparkSession, plan: TurnPlan, sink: SparkSink, read: Read, *, worker_epoch: int
) -> Outcome:
    """One turn of the sink."""

    def frame() -> DataFrame:
        records = read(spark, plan.ranges)
        found = decoded(records, sink.decoding, FrameTurn("sink", ()))
        if ERROR in found.columns:
            found = checked(found, records)
        return readable(found).selectExpr(*sink.select)

    end = FormatEnd(sink.format, plan.target, sink.options, sink.partition_by)
    return run_turn(
        spark,
        plan,
        end,
        frame,
        worker_epoch=worker_epoch,
    )
