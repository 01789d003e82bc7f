"""`penstock consumer`."""

from __future__ import annotations

from typing import Any

import pytest

from commands import Commands
from topics import Topics
from waiting import eventually


@pytest.fixture
def topic(topics: Topics, name: str) -> str:
    topics.create(name, partitions=2)
    for partition in (0, 1):
        topics.produce(name, [b"a", b"b", b"c"], partition=partition)
    return name


def listed(penstock: Commands, consumer: str) -> list[dict[str, Any]]:
    found = penstock.done("consumer", "list", "-o", "jsonl").objects()
    return [each for each in found if each["consumer"] == consumer]


def stands(penstock: Commands, consumer: str) -> dict[int, int]:
    return {each["partition"]: each["offset"] for each in listed(penstock, consumer)}


def test_listing(penstock: Commands, topic: str) -> None:
    penstock.done("consume", topic, "-B", "-d", "-c", topic, "-p", "0", "--ttl", "12h")
    found = penstock.done("consumer", "list").lines
    assert found[0].split() == [
        *("Consumer", "Topic", "Partition", "Offset", "Lag", "TTL", "Last", "seen")
    ]
    (row,) = [line.split() for line in found if line.startswith(topic)]
    # The transaction's marker has the fourth offset.
    assert row[:7] == [topic, topic, "0", "4", "0", "11", "hr"]
    assert row[-1] == "ago"
    (entry,) = listed(penstock, topic)
    assert entry["expires_ms"] == entry["seen_ms"] + 12 * 3600 * 1000


def test_deleting_one_partition_then_the_rest(penstock: Commands, topic: str) -> None:
    penstock.done("consume", topic, "-B", "-d", "-c", topic)
    one = penstock.done("consumer", "delete", topic, "-p", "1")
    assert one.out == f'consumer "{topic}" on partition "1" deleted\n'
    assert list(stands(penstock, topic)) == [0]
    penstock.done("consumer", "reset", topic, topic, "-p", "1", "-B")
    rest = penstock.done("consumer", "delete", topic, "-t", topic)
    assert rest.lines == [f'consumer "{topic}" on partition "{p}" deleted' for p in (0, 1)]
    none = penstock("consumer", "delete", topic)
    assert (none.code, none.out) == (1, "")
    assert f'there is no consumer "{topic}"' in none.err
    again = penstock.done("consume", topic, "-B", "-d", "-c", topic)
    assert len(again.lines) == 6


def test_moving(penstock: Commands, topic: str) -> None:
    moved = penstock.done("consumer", "reset", topic, topic, "--to-offset", "1")
    assert moved.lines == [
        f'consumer "{topic}" on partition "{p}" goes on at offset 1' for p in (0, 1)
    ]
    assert stands(penstock, topic) == {0: 1, 1: 1}
    penstock.done("consumer", "reset", topic, topic, "-T", "1", "-p", "0")
    assert stands(penstock, topic) == {0: 2, 1: 1}
    penstock.done("consumer", "reset", topic, topic, "--to-end", "-p", "1")
    assert stands(penstock, topic) == {0: 2, 1: 4}
    penstock.done("consumer", "reset", topic, topic, "--to-time", "1h")
    assert stands(penstock, topic) == {0: 0, 1: 0}
    nowhere = penstock("consumer", "reset", topic, topic, "--to-offset", "99")
    assert nowhere.code == 1
    assert ", not 99" in nowhere.err


def test_how_long_it_is_kept(penstock: Commands, topic: str) -> None:
    penstock.done("consumer", "reset", topic, topic, "-B")
    assert listed(penstock, topic)[0]["expires_ms"] is None
    penstock.done("consumer", "update", topic, "--ttl", "1s")
    eventually(lambda: not listed(penstock, topic), what="its end", every=0.2)
    swept = penstock.done("consumer", "sweep").lines
    assert f'consumer "{topic}" on partition "0" deleted' in swept
    unknown = penstock("consumer", "update", topic, "--ttl", "1d")
    assert unknown.code == 1
    assert f'there is no consumer "{topic}"' in unknown.err


def test_one_that_reads_is_not_deleted_unless_forced(penstock: Commands, topic: str) -> None:
    reading = penstock.start("consume", topic, "-B", "-c", topic)
    assert reading.stdout is not None
    try:
        reading.stdout.readline()
        refused = penstock("consumer", "delete", topic)
        assert refused.code == 1
        assert "--force" in refused.err
        second = penstock("consume", topic, "-d", "-c", topic)
        assert second.code == 1
        assert "--take-over" in second.err
        assert len(penstock.done("consumer", "delete", topic, "--force").lines) == 2
    finally:
        reading.kill()
        reading.communicate()
