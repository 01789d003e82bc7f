"""A worker that runs one turn, and stops between writing and renaming until it is told to go on.

python turning_process.py PLAN BROKERS WORKER_EPOCH
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from penstock.engine.frames.places import LocalPlaces
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import by_own_reader
from penstock.kafka.clients import Connection
from penstock.plugins.spark.decoding import Decoding
from spark_turns import SparkSink, run_sink

NUMBERS = SparkSink("json", Decoding("string"), ("CAST(value AS INT) AS n",))


PUT = LocalPlaces.put


def put_when_told(places: LocalPlaces, turn: str, worker_epoch: int) -> bool:
    """Says that all is written, and waits for a line before it goes on."""
    sys.stdout.write("written\n")
    sys.stdout.flush()
    sys.stdin.readline()
    return PUT(places, turn, worker_epoch)


def main() -> None:
    """Run the turn, and print its outcome."""
    plan, brokers, epoch = sys.argv[1:]
    setattr(LocalPlaces, "put", put_when_told)  # noqa: B010 (mypy would rather not)
    spark = SparkSession.builder.getOrCreate()
    read = by_own_reader(Connection(brokers))
    found = run_sink(spark, TurnPlan.from_json(plan), NUMBERS, read, worker_epoch=int(epoch))
    sys.stdout.write(f"{found.name}\n")


if __name__ == "__main__":
    main()
