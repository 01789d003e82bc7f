"""Turns into a table of Delta's or Iceberg's, in a plain session of Spark's.

python table_turns_process.py delta|iceberg FOLDER JARS [turns|unprepared|numbers]

Prints what became of them as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

from penstock.engine.frames.errors import FrameError
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.targets import Target, target_of
from penstock.kafka.range_reader import Range
from penstock.sdk.frames import FormatEnd

TABLE = "lake.sales.people"
WRITER = "connect-people"


def settings(kind: str, folder: str) -> dict[str, str]:
    """What a worker's configuration has to say for this format."""
    if kind == "delta":
        return {
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        }
    return {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": f"{folder}/lake",
    }


class Turns:
    """Turns of one connector into one table."""

    def __init__(self, spark: SparkSession, kind: str, folder: str) -> None:
        self._spark = spark
        self._kind = kind
        self._path, table = (f"{folder}/people", "") if kind == "delta" else ("", TABLE)
        self._end = FormatEnd(kind, self._path, {}, (), table)
        self.told: dict[str, Any] = {}

    def target(self) -> Target:
        """As a worker that has just been started would see it."""
        found = target_of(self._spark, self._end, writer=WRITER, worker_epoch=1)
        assert found is not None
        return found

    def plan(self, epoch: int, start: int, stop: int) -> TurnPlan:
        """Numbers are offsets."""
        return TurnPlan(epoch, (Range("people", 0, start, stop),), self._end.target, "config")

    def write(self, plan: TurnPlan, *, column: str = "id", wanted: bool = True) -> str:
        """The outcome, or the error."""
        [wanted_range] = plan.ranges
        numbers = self._spark.range(wanted_range.start, wanted_range.stop).selectExpr(column)
        try:
            return self.target().write(plan, lambda: numbers, lambda: wanted).name
        except FrameError as error:
            return str(error)

    def numbers(self) -> list[int]:
        """What the table has, read by Spark."""
        if self._kind == "delta":
            frame = self._spark.read.format("delta").load(self._path)
        else:
            self._spark.catalog.refreshTable(TABLE)
            frame = self._spark.table(TABLE)
        return sorted(int(row[0]) for row in frame.collect())

    def run(self) -> dict[str, Any]:
        """Every case in turn."""
        told = self.told
        first = self.plan(100, 0, 3)
        told["not there yet"] = self.target().happened(first)
        told["not wanted"] = self.write(first, wanted=False)
        told["first"] = self.write(first), self.target().happened(first), self.numbers()
        told["again"] = self.write(first) in ("WRITTEN", "HAPPENED_BEFORE"), self.numbers()
        second = self.plan(self.target().following(self.plan(50, 3, 5)).epoch, 3, 5)
        told["the clock fell"] = self.write(second), self.target().happened(second), self.numbers()
        rewound = self.plan(200, 0, 2)
        told["rewound"] = self.write(rewound), self.numbers()
        told["another schema"] = self.write(self.plan(300, 5, 6), column="array(id) AS id")
        told["another column"] = self.write(self.plan(301, 5, 6), column="id AS other")
        told["nothing of these"] = self.numbers()
        if self._kind == "delta":
            told["thawed"] = self.write(self.plan(150, 7, 9)), self.numbers()
            told["epochs"] = [self.target().following(self.plan(e, 0, 1)).epoch for e in (7, 900)]
        return told


def main() -> None:
    """As its arguments say."""
    kind, folder, jars, what = sys.argv[1:]
    builder = SparkSession.builder.config("spark.jars", jars)
    for key, value in settings(kind, folder).items() if what != "unprepared" else ():
        builder = builder.config(key, value)
    turns = Turns(builder.getOrCreate(), kind, folder)
    told = (
        turns.numbers() if what == "numbers" else turns.run() if what == "turns" else refused(turns)
    )
    sys.stdout.write(f"{json.dumps(told)}\n")


def refused(turns: Turns) -> str:
    """What a session is told that was not prepared."""
    try:
        turns.target()
    except FrameError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main()
