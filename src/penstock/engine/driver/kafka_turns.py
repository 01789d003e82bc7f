"""Turns that end in Kafka, for ``FrameTurns`` to run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report_as, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.frames.frame_lease import FrameReport
from penstock.engine.frames.turn_order import TurnOrder, TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class IntoKafka:
    """Implements ``frame_turns.Turn``."""

    order: TurnOrder

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.order.connector

    def __str__(self) -> str:
        return str(self.order)

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread."""
        from penstock.engine.frames.kafka_turn import KafkaTurn

        decode = partial(decode_report_as, FrameReport)
        return KafkaTurn(
            spark,
            self.order,
            confirm=confirm,
            question=question,
            encode=encode_report,
            decode=decode,
        ).run()
