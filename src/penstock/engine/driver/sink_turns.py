"""Turns of sinks with a step in Spark SQL, for ``FrameTurns`` to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engine.frames.sink_turn import SinkOrder


@dataclass(frozen=True)
class ThroughSql:
    """Implements ``frame_turns.Turn``."""

    order: SinkOrder

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.order.connector

    def __str__(self) -> str:
        return str(self.order)

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread."""
        from penstock.engine.frames.sink_turn import SparkSinkTurn

        return SparkSinkTurn(
            spark, self.order, question=question, encode=encode_report, decode=decode_report
        ).run()
