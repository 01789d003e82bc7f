"""Turns of sources that Spark reads, for ``FrameTurns`` to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.driver.ordered_turn import OrderedTurn
from penstock.engine.frames.source_turn import SourceOrder, SparkSourceTurn
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class FromSpark(OrderedTurn[SourceOrder]):
    """What Spark reads, into topics."""

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """As ``SparkSourceTurn``."""
        return SparkSourceTurn(
            spark,
            self.order,
            confirm=confirm,
            question=question,
            encode=encode_report,
            decode=decode_report,
        ).run()
