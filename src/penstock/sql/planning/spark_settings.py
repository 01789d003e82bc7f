"""What every Spark session is set to that runs SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
}
"""Expressions give NULL and no errors, of equal keys of a map the last one holds, and the time zone
is UTC, as SQL's is."""


def own_session(spark: SparkSession) -> SparkSession:
    """A session beside ``spark``, with these settings and with views of its own."""
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session
