"""A sink commits how far it has read, not the last record plus one."""

from __future__ import annotations

from pathlib import Path

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from runners import resting
from topics import Topics
from waiting import eventually


def test_a_range_of_only_aborted_records(
    connectors: ConnectClient, topics: Topics, worker: Worker, name: str, tmp_path: Path
) -> None:
    """It is read once, not for ever, and what follows it is written once."""
    topics.create(name)
    topics.produce(name, [b"a", b"b"])
    topics.produce(name, [b"never"] * 50, abort=True)
    out = tmp_path / "out.txt"
    connectors.create(name, {"connector.class": "FileStreamSink", "topics": name, "file": str(out)})
    end = 2 + 1 + 50 + 1
    eventually(lambda: _offset(connectors, name) == end, what="the end")
    assert out.read_text() == "a\nb\n"

    topics.produce(name, [b"never"] * 50, abort=True)
    after = end + 51  # with the marker that ends the transaction
    eventually(lambda: _offset(connectors, name) == after, what="a range with no record at all")
    eventually(lambda: resting(worker, name), what="an idle sink")
    topics.produce(name, [b"c"])
    eventually(lambda: out.read_text() == "a\nb\nc\n", what="what follows")


def _offset(connectors: ConnectClient, name: str) -> int:
    offsets = connectors.offsets(name)
    return int(offsets[0]["offset"]["kafka_offset"]) if offsets else -1
