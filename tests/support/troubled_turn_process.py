"""A frame turn in a session of its own, whose only task meets with something.

python troubled_turn_process.py BROKERS NAME MARK MASTER process|executor|left|late

Its Python process dies, or its executor, just after it has committed, and Spark tries it again; its
worker has left the workers' group; or the turn is no longer wanted when the task begins.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from frame_leases import frame_lease, left_membership
from penstock.engine.carriers.orders import decode_report_as, encode_report
from penstock.engine.frames.frame_lease import FrameReport
from penstock.engine.frames.kafka_turn import KafkaTurn
from penstock.engine.frames.turn_order import TurnOrder
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from penstock.sdk.frames import FrameTurn
from sample_connectors.framed import kill_executor

DYING = ("process", "executor")


def exit_once(mark: str, what: str, report: FrameReport) -> Any:
    """The report is encoded when all is committed."""
    if not Path(mark).exists():
        Path(mark).touch()
        if what == "executor":
            kill_executor()
        os._exit(3)
    return encode_report(report)


def build(records: DataFrame, turn: FrameTurn) -> DataFrame:
    """A copy, into another topic."""
    return records.selectExpr("task", f"'{turn.connector}-out' AS topic", "value")


def main() -> None:
    """Run the turn, and print how its task ended."""
    brokers, name, mark, master, what = sys.argv[1:]
    builder = SparkSession.builder.master(master).config("spark.executor.memory", "512m")
    spark = builder.getOrCreate()
    connection = Connection(brokers)
    lease = frame_lease(connection, name, Range(name, 0, 0, 6))
    if what == "left":
        lease = replace(lease, membership=left_membership(connection, name))
    found = KafkaTurn(
        spark,
        TurnOrder(name, (lease,), build, headers=False),
        confirm=lambda: True,
        question=lambda: what != "late",
        encode=partial(exit_once, mark, what) if what in DYING else encode_report,
        decode=partial(decode_report_as, FrameReport),
    ).run()
    sys.stdout.write("".join(f"{report.end} {report.trace}\n" for report in found.reports))


if __name__ == "__main__":
    main()
