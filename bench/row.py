"""What a row is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.bed import Bed
from bench.results import RowResult


@dataclass(frozen=True)
class Row:
    """One question to the bench: its name, what is measured, and how."""

    name: str
    title: str
    measure: Callable[[Bed], RowResult]
