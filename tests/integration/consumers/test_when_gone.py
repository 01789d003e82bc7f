"""`penstock consume --when-gone`: the place of a consumer was deleted from the topic."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition

from commands import Commands
from topics import Topics


@pytest.fixture
def topic(penstock: Commands, topics: Topics, name: str) -> str:
    """Six records, of which a consumer of the topic's name has read two; four are left then."""
    topics.create(name)
    penstock.done("produce", name, stdin=b"0\n1\n2\n3\n4\n5\n")
    assert penstock.done("consume", name, "-c", name, "-B", "-n", "2").lines == ["0", "1"]
    gone = TopicPartition(name, 0, 4)
    assert topics.admin.delete_records([gone])[gone].result(20).low_watermark == 4
    return name


@pytest.mark.parametrize("options", [(), ("--when-gone", "fail")], ids=["unasked", "fail"])
def test_it_never_jumps_unasked(penstock: Commands, topic: str, options: tuple[str, ...]) -> None:
    for _ in range(2):  # and it still stands where it stood
        failed = penstock("consume", topic, "-c", topic, "-d", *options)
        assert (failed.code, failed.out) == (1, "")
        assert failed.err.splitlines() == [
            f'Error: consumer "{topic}" is at offset 2 in partition 0 of {topic}, which is no '
            "longer in the log: the log now has 4 to 6. Go on with the earliest record "
            "(when_gone=earliest, --when-gone earliest) or at the end (latest), or reset it."
        ]


def test_on_with_what_is_there(penstock: Commands, topic: str) -> None:
    named = ("consume", topic, "-c", topic, "-d", "--when-gone", "earliest")
    assert penstock.done(*named).lines == ["4", "5"]
    assert penstock.done(*named).lines == [], "it has its place again"


def test_on_at_the_end(penstock: Commands, topic: str) -> None:
    named = ("consume", topic, "-c", topic, "-d", "--when-gone", "latest")
    assert penstock.done(*named).lines == []
    penstock.done("produce", topic, stdin=b"new\n")
    assert penstock.done("consume", topic, "-c", topic, "-d").lines == ["new"]
