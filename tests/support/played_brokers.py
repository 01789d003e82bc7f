"""Brokers that the client library plays, in a process of their own: run as ``… <how many>``.

They know topics, groups and transactions well enough for a client to connect to all that it would
connect to.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def played_brokers(count: int) -> Iterator[str]:
    """Their addresses."""
    command = [sys.executable, __file__, str(count)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def _play(count: str) -> None:
    from confluent_kafka.admin import AdminClient

    # The brokers end with this client.
    client = AdminClient(
        {"bootstrap.servers": "nowhere", "test.mock.num.brokers": count, "log_level": 0}
    )
    found = client.list_topics(timeout=10).brokers.values()
    print(",".join(f"{each.host}:{each.port}" for each in found), flush=True)  # noqa: T201 (its answer)
    sys.stdin.read()


if __name__ == "__main__":
    _play(sys.argv[1])
