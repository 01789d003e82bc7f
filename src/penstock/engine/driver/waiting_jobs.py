"""Whether Spark has a place for the tasks of a job, or all of them wait for an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def awaits_executor(spark: SparkSession, tag: str) -> bool:
    """Whether a job with this tag runs, and not one task of it.

    Some seconds may pass until Spark's figures are right. It may not answer: ask on a thread that
    can wait, and expect any error.
    """
    context = spark.sparkContext
    jobs = context._jsc.sc().statusTracker().getJobIdsForTag(tag)
    tracker = context.statusTracker()
    found = [info for job in jobs if (info := tracker.getJobInfo(job)) is not None]
    running = [info for info in found if info.status == "RUNNING"]
    stages = [tracker.getStageInfo(stage) for info in running for stage in info.stageIds]
    return bool(running) and not any(stage and stage.numActiveTasks for stage in stages)
