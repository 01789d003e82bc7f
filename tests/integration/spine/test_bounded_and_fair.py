"""A big file in little memory, and small connectors beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from files import digest, size_of, write_lines
from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from topics import Topics
from waiting import eventually

SIZE = 2 * 1024**3
LINE = 4096
SMALL = 20


@pytest.mark.heavy
def test_two_gigabytes_beside_twenty_small_connectors(
    connectors: ConnectClient, topics: Topics, worker: Worker, name: str, tmp_path: Path
) -> None:
    """With a heap of 2 GB; and the small ones are done long before the big one is."""
    assert worker.config.spark()["spark.driver.memory"] == "2g"
    big, target = tmp_path / "big.txt", tmp_path / "copy.txt"
    write_lines(big, SIZE // LINE, LINE)
    topics.create(name)
    connectors.create(
        name, {"connector.class": "FileStreamSource", "file": str(big), "topic": name}
    )
    eventually(lambda: topics.end(name) > 0, what="the big one at work")

    smalls = [f"{name}-{i}" for i in range(SMALL)]
    for small in smalls:
        write_lines(tmp_path / small, 100, 50)
        topics.create(small)
        connectors.create(
            small,
            {"connector.class": "FileStreamSource", "file": str(tmp_path / small), "topic": small},
        )
    eventually(lambda: all(topics.end(small) >= 100 for small in smalls), what="the small ones")
    assert topics.end(name) < SIZE // LINE, "the big one was done before: nothing was tested"

    sink = f"{name}-sink"
    connectors.create(
        sink, {"connector.class": "FileStreamSink", "file": str(target), "topics": name}
    )
    eventually(lambda: size_of(target) >= size_of(big), within=240, what="the whole file")
    assert digest(target) == digest(big)
    for small in smalls:
        assert len(topics.values(small)) == 100
