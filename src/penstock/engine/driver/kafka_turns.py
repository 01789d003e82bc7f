"""Turns that end in Kafka, for ``FrameTurns`` to run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.engine.carriers.orders import decode_report_as, encode_report
from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.driver.ordered_turn import OrderedTurn
from penstock.engine.frames.frame_lease import FrameReport
from penstock.engine.frames.turn_order import TurnOrder, TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class IntoKafka(OrderedTurn[TurnOrder]):
    """What ``build`` makes of the records, into topics."""

    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """As ``KafkaTurn``."""
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
