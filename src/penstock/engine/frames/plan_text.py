"""Spark's plan of a DataFrame, for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.logs.secrets import scrub

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LONGEST = 50_000


def plan_text(frame: DataFrame, secrets: Iterable[str]) -> str:
    """The logical plans and the physical one, as ``explain(True)`` prints them."""
    text = scrub(str(frame._jdf.queryExecution().toString()), secrets)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n(and more)"
