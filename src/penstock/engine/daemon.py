"""Spark's Python daemon with the heavy imports done once, before it forks workers.

Named by ``spark.python.daemon.module``. Nothing here may start a thread: a thread does not survive
the fork, and what it held stays locked in the child.
"""

from __future__ import annotations

import confluent_kafka  # noqa: F401 (imported for its cost)
import numpy  # noqa: F401
import orjson  # noqa: F401
import pandas  # noqa: F401
import pyarrow
from pyspark.daemon import manager

import penstock.engine.sink_lease
import penstock.engine.source_lease  # noqa: F401


def main() -> None:
    """Serve workers until the executor closes our standard input."""
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    manager()


if __name__ == "__main__":
    main()
