"""What connectors that keep a memory of their own need of a worker, by sample connectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.client import ConnectClient
from sink_offsets import entry
from topics import Topics
from waiting import eventually


def packed(out: Path) -> list[list[str]]:
    """The contents of the files, in the order of their offsets."""
    files = sorted(out.glob("*.txt"), key=lambda path: int(path.stem.rpartition("-")[2]))
    return [path.read_text().split() for path in files]


def opened(out: Path) -> list[tuple[int, str]]:
    """Epoch and metadata of what each lease was given."""
    lines = (line.split(" ") for line in (out / "opened").read_text().splitlines())
    return [(int(epoch), metadata) for epoch, _, _, _, metadata in lines]


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

    topics.produce(name, [str(number).encode() for number in range(24, 29)])
    # The marker of the first transaction has an offset as well.
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 31)], what="what was held back")
    assert [value for file in packed(tmp_path) for value in file] == [
        *values,
        *map(str, range(24, 30)),
    ][:30]
    epochs = [epoch for epoch, _ in opened(tmp_path)]
    assert epochs == sorted(set(epochs))
    assert len(epochs) > 1


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
