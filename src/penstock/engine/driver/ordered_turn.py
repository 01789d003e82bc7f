"""What all turns have in common that ``FrameTurns`` runs: each carries out an order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from penstock.engine.driver.frame_turns import Confirm
from penstock.engine.frames.turn_order import TurnOutcome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Order(Protocol):
    """What is to be done in a turn of one connector. As a text, what Spark's UI shows of it."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""


Wanted = TypeVar("Wanted", bound=Order)


@dataclass(frozen=True)
class OrderedTurn(ABC, Generic[Wanted]):
    """Implements ``frame_turns.Turn``."""

    order: Wanted

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.order.connector

    def __str__(self) -> str:
        return str(self.order)

    @abstractmethod
    def run(self, spark: SparkSession, confirm: Confirm, question: Confirm) -> TurnOutcome:
        """Run it on this thread."""
