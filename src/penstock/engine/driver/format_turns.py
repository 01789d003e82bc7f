"""Turns that end in files, for ``FrameTurns`` to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engine.frames.format_turn import FormatOrder


@dataclass(frozen=True)
class IntoFormat:
    """Implements ``frame_turns.Turn``."""

    order: FormatOrder

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.order.lease.connector

    def __str__(self) -> str:
        return str(self.order)

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread."""
        from penstock.engine.frames.format_turn import FormatTurn

        return FormatTurn(spark, self.order, confirm).run()
