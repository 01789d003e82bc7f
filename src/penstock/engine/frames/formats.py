"""Which of Spark's formats a turn can write, and what it promises there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.engine.frames.errors import FormatError
from penstock.engine.frames.places import exactly_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = ("parquet", "orc", "json", "csv", "text", "xml", "avro")
"""Formats whose output is a folder of files, which one rename puts in its place."""
DELTA, ICEBERG = "delta", "iceberg"
"""Tables that remember which turns they have."""
PACKAGES = {
    DELTA: "io.delta:delta-spark_2.13:4.0.0",
    ICEBERG: "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",
    "avro": "org.apache.spark:spark-avro_2.13:4.0.0",
}
"""Where formats come from that are not among Spark's own."""
DELTA_SESSION = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"


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
    """FormatError if Spark has no such format; its text says what to add to the worker."""
    if not is_installed(spark, name):
        raise FormatError(f'Spark has no format "{name}" installed. {_remedy(name.lower())}')


def _remedy(name: str) -> str:
    if name in PACKAGES:
        return (
            f"Add spark.jars.packages={PACKAGES[name]} to the worker's configuration, or its jars "
            "as spark.jars, and start the worker again."
        )
    return (
        f"Without further jars there are {', '.join(FILES[:-1])}, jdbc; others come with "
        "spark.jars.packages of the worker."
    )


def refuse_unless_delta(spark: SparkSession) -> None:
    """FormatError unless the session can write Delta's tables."""
    refuse_unless_installed(spark, DELTA)
    for key, value in DELTA_SESSION.items():
        if value not in str(spark.conf.get(key, "")).split(","):
            raise FormatError(
                f"Spark's session is not prepared for Delta: add {key}={value} to the worker's "
                "configuration, and start the worker again."
            )


def refuse_unless_iceberg(spark: SparkSession, table: str) -> None:
    """FormatError unless the session can write to this table of Iceberg's."""
    refuse_unless_installed(spark, ICEBERG)
    catalog = table.partition(".")[0]
    key = f"spark.sql.catalog.{catalog}"
    if spark.conf.get(key, None) is None:
        raise FormatError(
            f"Spark has no catalog {catalog}, which table {table} would be in: add "
            f"{key}={ICEBERG_CATALOG}, and where it is ({key}.type=hadoop and {key}.warehouse, for "
            "one), to the worker's configuration, and start the worker again."
        )


def writes_files(name: str) -> bool:
    """Whether its output can be put in its place by a rename."""
    return name.lower() in FILES


def promise(name: str, path: str) -> str:
    """What users are told about output in this format, below ``path``."""
    if name.lower() == DELTA:
        return (
            "exactly once: the table's log has the number of the last turn. On object stores this "
            "needs a log store of Delta's that lets only one of two writers commit"
        )
    if name.lower() == ICEBERG:
        return (
            "exactly once: the table's snapshots have the ids of turns. Only a worker that was "
            "frozen while it commits, and goes on after another has taken over, adds it again"
        )
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
