"""Reads everything in a bucket, in a process of its own: prints rows, bytes and memory as JSON.

python object_reader_process.py '<configuration as JSON>'
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.sdk import OffsetReader
from source_batches import polled


def main(config: dict[str, str]) -> dict[str, Any]:
    """What was read, and the most memory that it took."""
    connector = ObjectSourceConnector()
    connector.start(config)
    (task_config,) = connector.task_configs(1)
    (share,) = connector.plan(OffsetReader(), [0]) or ({},)
    task = connector.task_class()
    task.start({**task_config, **share}, OffsetReader())
    rows = size = 0
    batch = polled(task)
    while batch is not None or task.busy:
        if batch is not None:
            rows += batch.records.num_rows
            size += batch.records.column("value").nbytes
            task.committed(batch.offsets)
        else:
            time.sleep(0.01)
        batch = polled(task)
    task.stop()
    connector.stop()
    return {"rows": rows, "bytes": size, "megabytes": most_megabytes()}


def most_megabytes() -> int:
    """The most memory that this program had; ``getrusage`` counts that of its parent as well."""
    status = Path("/proc/self/status").read_text()
    (line,) = (each for each in status.splitlines() if each.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))))
