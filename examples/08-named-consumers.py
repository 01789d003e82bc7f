"""A topic read under a name: a crash on the way, then on where it was, and the rest in Spark.

    .venv/bin/python examples/08-named-consumers.py

Six orders are in a topic. A program that reads them under the name "billing" dies while it handles
the fourth; the next one under that name begins with the fourth. What is left then is a DataFrame,
which is unread until it is committed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
from pyspark.sql import SparkSession

from penstock.consumers import Consumer, dataframe
from penstock.embedded import find_java
from running_worker import RunningWorker, running_worker

ORDERS = [f"order {number}" for number in range(1, 7)]
TOPIC, NAME = "billed-orders", "billing"


def main() -> None:
    """The story, checked on the way."""
    with running_worker() as worker:
        httpx.post(f"{worker.url}/topics", json={"name": TOPIC}, timeout=60).raise_for_status()
        produce(worker)
        died = subprocess.run(
            [sys.executable, __file__, "die"], env=worker.environment(), check=False
        )
        assert died.returncode == 9

        print("The next one under that name:")
        with Consumer(TOPIC, name=NAME, bootstrap_servers=worker.bootstrap_servers) as consumer:
            found = [handle(next(consumer).text) for _ in range(2)]
        assert found == ORDERS[3:5]

        the_rest_in_spark(worker)
        (stands,) = listed(worker)
        print(f"GET /consumers: {stands}")
        assert (stands["offset"], stands["lag"]) == (6, 0)


def produce(worker: RunningWorker) -> None:
    """A record for each line, with the command."""
    command = [sys.executable, "-m", "penstock", "produce", TOPIC]
    lines = "".join(f"{order}\n" for order in ORDERS)
    subprocess.run(command, env=worker.environment(), input=lines, text=True, check=True)


def die_on_the_way() -> None:
    """Another process: asking for the fourth order commits the third. The fourth is not."""
    with Consumer(TOPIC, name=NAME) as consumer:  # brokers: PENSTOCK_BOOTSTRAP_SERVERS
        for record in consumer:
            if record.text == ORDERS[3]:
                consumer.flush()
                print(f"  dies in the midst of {record.text}", flush=True)
                os._exit(9)
            handle(record.text)


def handle(order: str | None) -> str | None:
    """Whatever there is to do with an order."""
    print(f"  {order}", flush=True)
    return order


def the_rest_in_spark(worker: RunningWorker) -> None:
    """What is unread, until it is committed."""
    spark, brokers = session(worker.folder / "08-spark"), worker.bootstrap_servers
    with dataframe(spark, TOPIC, consumer=NAME, bootstrap_servers=brokers) as unread:
        rows = unread.frame.selectExpr("CAST(value AS STRING) AS value").collect()
        print(f"Unread, in Spark: {[row.value for row in rows]}")
        assert [row.value for row in rows] == ORDERS[5:]
        unread.commit()
    spark.stop()


def session(folder: Path) -> SparkSession:
    """A small session, whose Python workers are to be this Python, which has Penstock."""
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(folder))
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def listed(worker: RunningWorker) -> list[dict[str, Any]]:
    """Where this name stands; `penstock consumer list` says the same."""
    found = httpx.get(f"{worker.url}/consumers", timeout=60).json()
    return [each for each in found if each["consumer"] == NAME]


if __name__ == "__main__":
    die_on_the_way() if sys.argv[1:] == ["die"] else main()
