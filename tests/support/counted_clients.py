"""What the clients of some leases take of a process that has nothing else.

Run as ``… <brokers> <leases>``: it tells their threads and descriptors once they are connected to
all brokers, and ends when its standard input does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from penstock.engine.lease.topic_reader import TopicReader
from penstock.kafka.clients import Connection
from penstock.kafka.transactions import Transactions
from waiting import eventually


def _count(servers: str, leases: int) -> dict[str, int]:
    connection = Connection(servers, few_brokers=True)
    kept: list[object] = [_used(Transactions(connection, "first"))]  # what a process has once
    threads, handles = _in("task"), _in("fd")
    for number in range(leases):
        kept.append(_used(Transactions(connection, f"id-{number}")))
        kept.append(reader := TopicReader(connection, {("t", 0): 0}, settings={}))
        reader.read(1, 0.1)
    # A little less than all: or some are not connected to all brokers yet.
    nearly = 2 * leases * (4 + 3 * len(servers.split(",")))
    eventually(lambda: _in("fd") - handles >= nearly)
    return {"threads": _in("task") - threads, "handles": _in("fd") - handles}


def _used(producer: Transactions) -> Transactions:
    producer.send("t", b"value", b"key")
    producer.commit([], [])
    return producer


def _in(folder: str) -> int:
    return len(list(Path(f"/proc/self/{folder}").iterdir()))


if __name__ == "__main__":
    print(json.dumps(_count(sys.argv[1], int(sys.argv[2]))), flush=True)  # noqa: T201 (its answer)
    os._exit(0)
