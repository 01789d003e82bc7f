"""Spark's Python daemon with the heavy imports done once, before it forks workers.

Named by ``spark.python.daemon.module``. Nothing here may start a thread: a thread does not survive
the fork, and what it held stays locked in the child.
"""

from __future__ import annotations

import gc

import confluent_kafka  # noqa: F401 (imported for its cost)
import numpy  # noqa: F401 (as above)
import orjson  # noqa: F401 (as above)
import pandas  # noqa: F401 (as above)
import pyarrow
from pyspark.daemon import manager

import penstock.engine.carriers.carrying  # noqa: F401 (as above)


def main() -> None:
    """Serve workers until the executor closes our standard input."""
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    _collect_garbage_less_often()
    manager()


def _collect_garbage_less_often() -> None:
    """Tune the garbage collector: a lease drops thousands of short-lived objects, none in cycles.

    Imported modules are never garbage, and if untouched their memory stays shared between workers.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


if __name__ == "__main__":
    main()
