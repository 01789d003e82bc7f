"""Turns that end in files, for ``FrameTurns`` to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.driver.ordered_turn import OrderedTurn
from penstock.engine.frames.format_turn import FormatOrder, FormatTurn
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IntoFormat(OrderedTurn[FormatOrder]):
    """What ``build`` makes of the records, into one of Spark's formats."""

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """As ``FormatTurn``."""
        return FormatTurn(spark, self.order, confirm).run()
