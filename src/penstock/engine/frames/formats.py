"""Which of Spark's formats a turn can write, and what it promises there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import FormatError
from penstock.engine.frames.places import exactly_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = ("parquet", "orc", "json", "csv", "text", "xml", "avro")
"""Formats whose output is a folder of files, which one rename puts in its place."""


def is_installed(spark: SparkSession, name: str) -> bool:
    """Whether Spark has such a format."""
    jvm: Any = spark._jvm
    lookup = jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
    try:
        lookup(name, spark._jsparkSession.sessionState().conf())
    except Exception:  # noqa: BLE001 (Java's answer for a class that is missing, or does not load)
        return False
    return True


def refuse_unless_installed(spark: SparkSession, name: str) -> None:
    """FormatError if Spark has no such format."""
    if not is_installed(spark, name):
        raise FormatError(
            f'Spark has no format "{name}" installed. Without further jars there are '
            f"{', '.join(FILES[:-1])}, jdbc; others come with spark.jars.packages of the worker."
        )


def writes_files(name: str) -> bool:
    """Whether its output can be put in its place by a rename."""
    return name.lower() in FILES


def promise(name: str, path: str) -> str:
    """What users are told about output in this format, below ``path``."""
    if not writes_files(name):
        return (
            "at least once: this format appends, so that the records of a worker that is killed "
            "while it does, or before it commits, are appended again by the next"
        )
    if exactly_once(path):
        return "exactly once: a turn is in its place as a whole, or not at all"
    return (
        "at least once: this file system renames by copying, so that a worker that is killed while "
        "it does leaves files of which the next worker writes copies"
    )
