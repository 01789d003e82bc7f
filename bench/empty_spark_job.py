"""The least that a Spark job with a Python stage costs, in a session with our own settings.

    python -m bench.empty_spark_job <folder> [jar ...]

Says that it is ready once warm; then answers every line with the milliseconds of one more job.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from penstock.embedded import find_java
from penstock.engine.driver.session import LazySession, SparkSettings

WARM_UP_JOBS = 30


def main(folder: str, *jars: str) -> None:
    """Serve until the end of standard input."""
    settings = SparkSettings(
        Path(folder), jars=[Path(jar) for jar in jars], java_home=find_java().home
    )
    session = LazySession(settings)
    try:
        serve(session.get())
    finally:
        session.stop()


def serve(spark: SparkSession) -> None:
    """Warm up, then one job for every line."""
    for _ in range(WARM_UP_JOBS):
        job_milliseconds(spark)
    answer("ready")
    for _ in sys.stdin:
        answer(f"{job_milliseconds(spark):.3f}")


def job_milliseconds(spark: SparkSession) -> float:
    """The time of one empty job with one Python hop."""
    began = time.perf_counter()
    spark.range(0, 1, 1, 1).mapInArrow(same, "id long").collect()
    return (time.perf_counter() - began) * 1000


def same(batches: Iterable[Any]) -> Iterable[Any]:
    """Pass on what comes."""
    yield from batches


def answer(line: str) -> None:
    """Say a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
