"""A source with many partitions: a change of one of them is one record."""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.client import ConnectClient
from topics import Topics

MANY = 1000


def records_of(topics: Topics, name: str) -> Counter[bytes]:
    """How many records each key of a connector has in the offsets topic."""
    prefix = f'["{name}",'.encode()
    keys = [message.key() or b"" for message in topics.messages("penstock-offsets")]
    return Counter(key for key in keys if key.startswith(prefix))


def offset(number: int, position: int | None) -> dict[str, Any]:
    """One entry of a request."""
    partition = {"filename": f"file-{number:04d}.txt"}
    return {
        "partition": partition,
        "offset": None if position is None else {"position": position},
    }


def test_altering_one_does_not_rewrite_the_others(
    connectors: ConnectClient, topics: Topics, name: str
) -> None:
    config = {"connector.class": "FileStreamSource", "file": "file-0000.txt", "topic": name}
    connectors.create(name, config, "STOPPED")
    connectors.alter_offsets(name, [offset(number, number) for number in range(MANY)])
    once = records_of(topics, name)
    assert set(once.values()) == {1}
    assert len(once) == MANY

    connectors.alter_offsets(name, [offset(7, 70), offset(8, None)])
    rewritten = records_of(topics, name) - once
    assert rewritten == {
        f'["{name}",{{"filename":"file-{number:04d}.txt"}}]'.encode(): 1 for number in (7, 8)
    }
    found = {entry["partition"]["filename"]: entry["offset"] for entry in connectors.offsets(name)}
    assert len(found) == MANY - 1
    assert found["file-0007.txt"] == {"position": 70}
    assert found["file-0009.txt"] == {"position": 9}
