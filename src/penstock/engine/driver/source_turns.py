"""Turns of sources that Spark reads, for ``FrameTurns`` to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engine.frames.source_turn import SourceOrder


@dataclass(frozen=True)
class FromSpark:
    """Implements ``frame_turns.Turn``."""

    order: SourceOrder

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.order.connector

    def __str__(self) -> str:
        return str(self.order)

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread."""
        from penstock.engine.frames.source_turn import SparkSourceTurn

        return SparkSourceTurn(
            spark,
            self.order,
            confirm=confirm,
            question=question,
            encode=encode_report,
            decode=decode_report,
        ).run()
