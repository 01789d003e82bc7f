"""The records of a turn that ends in a format: read, decoded, and made into what is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.engine.frames.converted_frame import ERROR, converted
from penstock.engine.frames.formats import is_installed
from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.sifted import MOST_BYTES, NOTHING, Sifted, checked, sifted, without
from penstock.engine.frames.task_frame import task_frame
from penstock.engine.frames.turn import by_kafka_source, explained
from penstock.engine.frames.turn_order import Build, told_turn
from penstock.sdk.frames import FrameTurn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEWEST_BYTES = 64 << 10
"""Of refused records that are taken from one of very many partitions."""


@dataclass(frozen=True)
class Reading:
    """How records become what is written."""

    decode: Build
    build: Build
    headers: bool = True


class TurnRecords:
    """The records of one turn, however often they are read."""

    def __init__(
        self,
        spark: SparkSession,
        lease: FrameLease,
        reading: Reading,
    ) -> None:
        """``lease`` has references that only stages resolve."""
        self._spark = spark
        self._lease = lease
        self._reading = reading

    def look(self, plan: TurnPlan, *, all_errors: bool) -> Sifted:
        """Which of them cannot be read: those that a turn can deal with, or, without
        ``all_errors``, the first of each partition. FrameError if Spark cannot find out."""
        ranges = max(1, len(plan.ranges))
        most = max(FEWEST_BYTES, MOST_BYTES // ranges) if all_errors else 0
        payload = all_errors and bool(self._lease.tolerance.dead_letter_topic)
        with explained(f"a turn of {self._lease.connector}", "was not read"):
            decoded = self._decoded(self._read(plan), plan)
            if ERROR not in decoded.columns:
                return NOTHING
            return sifted(decoded, most=most, payload=payload)

    def frame(self, plan: TurnPlan, refused: Sifted) -> DataFrame:
        """What is written of them, but for those that were refused."""
        records = without(self._read(plan), refused)
        decoded = self._decoded(records, plan)
        if ERROR in decoded.columns:
            decoded = checked(decoded, records)
        return self._reading.build(decoded, self._told(plan))

    def _decoded(self, records: DataFrame, plan: TurnPlan) -> DataFrame:
        return self._reading.decode(records, self._told(plan))

    def _told(self, plan: TurnPlan) -> FrameTurn:
        told = told_turn((replace(self._lease, ranges=plan.ranges),), {}, small=False)
        return replace(told, converted=partial(converted, lease=self._lease))

    def _read(self, plan: TurnPlan) -> DataFrame:
        """By Spark's Kafka source if that can be told how to reach the brokers: Java has other
        words for security."""
        lease, headers = self._lease, self._reading.headers
        if lease.connection.security or not is_installed(self._spark, "kafka"):
            parts = [(lease.task, (each,)) for each in plan.ranges]
            return task_frame(self._spark, lease.connection, parts, headers=headers)
        settings = {"bootstrap.servers": lease.connection.bootstrap_servers}
        read = by_kafka_source(settings, headers=headers)
        return read(self._spark, plan.ranges).selectExpr(f"{lease.task} AS task", "*")
