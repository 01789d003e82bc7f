"""What connectors that keep a memory of their own need of a worker, by sample connectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.client import ConnectClient
from sink_offsets import entry
from topics import Topics
from waiting import eventually


def packed(out: Path) -> list[list[str]]:
    """The contents of the files, in the order of their offsets."""
    files = sorted(out.glob("*.txt"), key=lambda path: int(path.stem.rpartition("-")[2]))
    return [path.read_text().split() for path in files]


def opened(out: Path) -> list[tuple[int, int]]:
    """Epoch, and number of committed positions, that each lease was given."""
    lines = (line.split() for line in (out / "opened").read_text().splitlines())
    return [(int(epoch), int(committed)) for epoch, committed in lines]


@pytest.mark.heavy
def test_a_sink_commits_what_it_says_is_safe(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Across leases: what it holds back comes again, and an altered offset is rewritten."""
    topics.create(name)
    values = [str(number) for number in range(24)]
    config = {"connector.class": "PackingSink", "topics": name, "out": str(tmp_path), "size": "10"}
    topics.produce(name, [value.encode() for value in values])
    connectors.create(name, config)
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 20)], what="two files")
    assert packed(tmp_path) == [values[:10], values[10:20]]

    connectors.stop(name)
    assert connectors.offsets(name) == [entry(name, 0, 20)]
    connectors.alter_offsets(name, [entry(name, 0, 17)])
    assert connectors.offsets(name) == [entry(name, 0, 10)]
    (tmp_path / f"{name}-0-10.txt").unlink()
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 20)], what="the second again")

    more = [str(number) for number in range(24, 30)]
    topics.produce(name, [value.encode() for value in more])
    # Each transaction's marker has an offset too.
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 32)], what="what was held back")
    assert packed(tmp_path)[2] == values[20:] + more
    epochs = [epoch for epoch, _ in opened(tmp_path)]
    assert len(epochs) > 1
    assert epochs == sorted(set(epochs))
    assert opened(tmp_path)[-1][1] == 1


def test_a_source_acknowledges_what_is_committed_and_forgets_it(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for number in range(20):
        (inbox / f"m{number:02}").write_text(str(number))
    topics.create(name)
    config = {"connector.class": "InboxSource", "topic": name, "inbox": str(inbox)}
    connectors.create(name, config)
    eventually(lambda: not list(inbox.iterdir()), what="all acknowledged")
    eventually(lambda: connectors.offsets(name) == [], what="all forgotten")
    assert topics.values(name) == [str(number) for number in range(20)]


def test_a_source_rewrites_what_a_user_asks_for(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    (tmp_path / "first").write_text("1")
    topics.create(name)
    config = {"connector.class": "InboxSource", "topic": name, "inbox": str(tmp_path)}
    connectors.create(name, {**config, "keep": "true"})

    def said(message: str, read: bool) -> list[dict[str, Any]]:
        return [{"partition": {"message": message}, "offset": {"read": read}}]

    eventually(lambda: connectors.offsets(name) == said("first", True), what="the message")
    connectors.stop(name)
    connectors.alter_offsets(name, said("unknown", True) + said("first", True))
    assert connectors.offsets(name) == said("first", True)
    connectors.alter_offsets(name, said("first", False))
    assert connectors.offsets(name) == []
    connectors.resume(name)
    eventually(lambda: topics.values(name) == ["1", "1"], what="the message again")
