"""Turns of sinks with a step in Spark SQL, for ``FrameTurns`` to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.driver.ordered_turn import OrderedTurn
from penstock.engine.frames.sink_turn import SinkOrder, SparkSinkTurn
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ThroughSql(OrderedTurn[SinkOrder]):
    """Read, computed by Spark, and put."""

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """As ``SparkSinkTurn``."""
        return SparkSinkTurn(
            spark, self.order, question=question, encode=encode_report, decode=decode_report
        ).run()
