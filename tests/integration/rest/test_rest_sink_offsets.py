"""Offsets of sinks over REST (KIP-875): they are those of the group connect-<name>."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from group_offsets import set_offsets
from penstock.client import ConnectClient
from penstock.kafka.groups import committed
from penstock.runtime.worker import Worker
from sink_offsets import collected, entry, groups, in_group
from topics import Topics
from waiting import eventually

ALTERED = "The offsets for this connector have been altered successfully"
RESET = "The offsets for this connector have been reset successfully"
BY_FRAMEWORK = (
    "The Connect framework-managed offsets for this connector have been {0} successfully. However, "
    "if this connector manages offsets externally, they will need to be manually {0} in the system "
    "that the connector uses."
)


def in_own_group(topics: Topics, name: str) -> list[dict[str, Any]]:
    return in_group(topics, f"connect-{name}")


def test_two_partitions(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """One is rewound, one forgotten, and each replays just its own."""
    topics.create(name, 2)
    for partition in (0, 1):
        records = [f"{partition}:{number}".encode() for number in range(5)]
        topics.produce(name, records, partition=partition)
    collecting()

    def values(partition: int) -> list[str]:
        rows = [row for row in collected(tmp_path) if row["partition"] == partition]
        return [row["value"] for row in rows]

    done = [entry(name, 0, 6), entry(name, 1, 6)]
    eventually(lambda: connectors.offsets(name) == done, what="all records and their markers")
    assert in_own_group(topics, name) == done
    first = [[f"{partition}:{number}" for number in range(5)] for partition in (0, 1)]
    assert [values(0), values(1)] == first

    connectors.stop(name)
    changes = [entry(name, 0, 3), entry(name, 1, None)]
    assert connectors.alter_offsets(name, changes) == BY_FRAMEWORK.format("altered")
    assert connectors.offsets(name) == in_own_group(topics, name) == [entry(name, 0, 3)]
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == done, what="the replay")
    assert values(0) == [*first[0], "0:3", "0:4"]
    assert values(1) == [*first[1], *first[1]]


def test_a_file_sink_is_moved_forward_back_and_to_the_beginning(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    topics.create(name)
    topics.produce(name, [b"0", b"1", b"2"])
    out = tmp_path / "out.txt"
    config = {"connector.class": "FileStreamSink", "topics": name, "file": str(out)}
    connectors.create(name, config)

    def written(upto: int) -> list[str]:
        eventually(lambda: connectors.offsets(name) == [entry(name, 0, upto)], what=str(upto))
        assert in_own_group(topics, name) == [entry(name, 0, upto)]
        return out.read_text().split()

    assert written(4) == ["0", "1", "2"]
    connectors.stop(name)
    topics.produce(name, [b"4", b"5", b"6"])
    assert connectors.alter_offsets(name, [entry(name, 0, 5)]) == ALTERED
    connectors.resume(name)
    assert written(8) == ["0", "1", "2", "5", "6"]

    connectors.stop(name)
    assert connectors.alter_offsets(name, [entry(name, 0, 1)]) == ALTERED
    assert connectors.offsets(name) == in_own_group(topics, name) == [entry(name, 0, 1)]
    connectors.resume(name)
    assert written(8) == ["0", "1", "2", "5", "6", "1", "2", "4", "5", "6"]

    connectors.stop(name)
    assert f"connect-{name}" in groups(topics)
    assert connectors.reset_offsets(name) == RESET
    assert connectors.offsets(name) == []
    assert f"connect-{name}" not in groups(topics)
    assert connectors.reset_offsets(name) == RESET
    connectors.resume(name)
    assert written(8)[10:] == ["0", "1", "2", "4", "5", "6"]


def test_an_offset_beyond_records_that_were_read_and_never_committed(
    connectors: ConnectClient, topics: Topics, reach, name: str, tmp_path: Path
) -> None:
    """The task fails with an error of its own, so they are not committed; the answer says which."""
    topics.create(name)
    topics.produce(name, [b"0", b"1", b"2", b"3", b"4"])
    sink = {"connector.class": "MisbehavingSink", "topics": name, "out": str(tmp_path)}
    fails = {"misbehave.in": "task.flush", "misbehave.how": "relapses"}
    connectors.create(name, {**sink, **fails, "misbehave.until": str(tmp_path / "never")})
    reach("RUNNING", "FAILED")
    assert [row["value"] for row in collected(tmp_path)] == ["0", "1", "2", "3", "4"]
    connectors.stop(name)
    told = connectors.alter_offsets(name, [entry(name, 0, 3)])
    assert told.startswith(BY_FRAMEWORK.format("altered").rstrip("."))
    assert f"whose effect may be undone: {name}-0 offsets 0 to 2. To read these again" in told
    assert f"{name}-0 offsets 0 to 4." in connectors.alter_offsets(name, [entry(name, 0, 6)])
    assert connectors.alter_offsets(name, [entry(name, 0, 0)]) == BY_FRAMEWORK.format("altered")


POSITION = {"kafka_topic": "t", "kafka_partition": 0}
PARSE = (
    "Failed to parse the following Kafka {0} value in the provided offsets: '{2}'. {1} values for "
    "sink connectors need to be integers."
)
NO_KEYS = (
    "The partition for a sink connector offset must contain the keys 'kafka_topic' and "
    "'kafka_partition'"
)
NO_OFFSET = (
    "The offset for a sink connector should either be null or contain the key 'kafka_offset'"
)
REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"offset": None}, "The partition for a sink connector offset cannot be null or missing"),
    (
        {"partition": None, "offset": {"kafka_offset": 1}},
        "The partition for a sink connector offset cannot be null or missing",
    ),
    ({"partition": {}, "offset": None}, NO_KEYS),
    ({"partition": {"kafka_topic": "t"}, "offset": None}, NO_KEYS),
    ({"partition": {"kafka_partition": 0}, "offset": None}, NO_KEYS),
    (
        {"partition": {"kafka_topic": None, "kafka_partition": 0}, "offset": None},
        "Kafka topic names must be valid strings and may not be null",
    ),
    (
        {"partition": {"kafka_topic": "t", "kafka_partition": None}, "offset": None},
        "Kafka partitions must be valid numbers and may not be null",
    ),
    (
        {"partition": {"kafka_topic": "t", "kafka_partition": "x"}, "offset": None},
        PARSE.format("partition", "Partition", "x"),
    ),
    (
        {"partition": {"kafka_topic": "t", "kafka_partition": 1.5}, "offset": None},
        PARSE.format("partition", "Partition", "1.5"),
    ),
    ({"partition": POSITION, "offset": {}}, NO_OFFSET),
    ({"partition": POSITION, "offset": {"offset": 1}}, NO_OFFSET),
    (
        {"partition": POSITION, "offset": {"kafka_offset": "x"}},
        PARSE.format("offset", "Offset", "x"),
    ),
    (
        {"partition": POSITION, "offset": {"kafka_offset": 1.5}},
        PARSE.format("offset", "Offset", "1.5"),
    ),
]


def test_what_is_refused(connectors: ConnectClient, collecting, refused, name: str) -> None:
    collecting("STOPPED")
    for wrong, text in REFUSALS:
        answer = refused(lambda: connectors.alter_offsets(name, [wrong]))  # noqa: B023 (called at once)
        assert answer == (400, text), wrong
    assert connectors.offsets(name) == []


def test_before_the_first_start(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """Numbers may be texts, as in Kafka Connect."""
    topics.create(name)
    topics.produce(name, [b"0", b"1", b"2"])
    collecting("STOPPED")
    assert connectors.offsets(name) == []
    text = {
        "partition": {"kafka_topic": name, "kafka_partition": "0"},
        "offset": {"kafka_offset": "2"},
    }
    connectors.alter_offsets(name, [text])
    assert connectors.offsets(name) == in_own_group(topics, name) == [entry(name, 0, 2)]
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 4)], what="the last record")
    assert [row["value"] for row in collected(tmp_path)] == ["2"]


def test_places_that_do_not_exist(
    connectors: ConnectClient, topics: Topics, collecting, refused, name: str
) -> None:
    """Refused as a whole, though the broker would take the part that it knows.

    Some of these offsets mean something else to Kafka's clients.
    """
    topics.create(name)
    collecting("STOPPED")
    wrong = [(name, 0, offset) for offset in (-1, -2, -1001, 2**63, 2**70)]
    wrong += [(name, partition, 5) for partition in (1, -1, 2**40)]
    wrong += [(f"{name}-missing", 0, 5)]
    for topic, partition, offset in wrong:
        changes = [entry(name, 0, 1), entry(topic, partition, offset)]
        status, text = refused(lambda: connectors.alter_offsets(name, changes))  # noqa: B023 (called at once)
        assert status == 400
        assert any(part in text for part in (f"{topic}-{partition}", str(partition), str(offset)))
    assert connectors.offsets(name) == in_own_group(topics, name) == []
    forget = [entry(f"{name}-missing", 0, None), entry(name, 1, None)]
    assert connectors.alter_offsets(name, forget) == BY_FRAMEWORK.format("altered")


def test_a_group_with_members_cannot_be_changed(
    connectors: ConnectClient, topics: Topics, collecting, refused, name: str
) -> None:
    topics.create(name)
    collecting("STOPPED")
    connectors.alter_offsets(name, [entry(name, 0, 1)])
    stranger = Consumer(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": f"connect-{name}",
            "enable.auto.commit": False,
        }
    )
    stranger.subscribe([name])
    try:
        eventually(lambda: stranger.poll(0.1) or stranger.assignment(), what="a member")
        text = (
            f"Failed to {{0}} consumer group offsets for connector {name} either because its tasks "
            "haven't stopped completely yet or the connector was resumed before the request to "
            "{0} its offsets could be successfully completed. If the connector is in a stopped "
            "state, this operation can be safely retried. If it doesn't eventually succeed, the "
            "Connect cluster may need to be restarted to get rid of the zombie sink tasks."
        )
        for change in ([entry(name, 0, 0)], [entry(name, 0, None)]):
            answer = refused(lambda: connectors.alter_offsets(name, change))  # noqa: B023 (called at once)
            assert answer == (500, text.format("alter"))
            assert connectors.offsets(name) == in_own_group(topics, name) == [entry(name, 0, 1)]
        answer = refused(lambda: connectors.reset_offsets(name))
        assert answer == (500, text.format("reset"))
        assert connectors.offsets(name) == in_own_group(topics, name) == [entry(name, 0, 1)]
    finally:
        stranger.close()
    assert connectors.reset_offsets(name) == BY_FRAMEWORK.format("reset")
    assert connectors.offsets(name) == []


def test_a_deleted_topic_does_not_stop_the_others(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """Its offsets went with it: they are not to be restored for ever in vain."""
    other = f"{name}-other"
    for topic in (name, other):
        topics.create(topic)
        topics.produce(topic, [b"before"])
    collecting(topics=f"{name},{other}")
    both = [entry(name, 0, 2), entry(other, 0, 2)]
    eventually(lambda: connectors.offsets(name) == both, what="both topics")
    topics.admin.delete_topics([other])[other].result(20)
    topics.produce(name, [b"after"])
    eventually(lambda: entry(name, 0, 4) in connectors.offsets(name), within=30, what="the rest")
    assert [row["value"] for row in collected(tmp_path)].count("after") == 1


def test_a_topic_that_was_made_anew_is_read_from_its_beginning(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """Also by a sink that stood where the new topic already has records."""
    topics.create(name)
    topics.produce(name, [b"old"] * 3)
    collecting()

    def values() -> list[str]:
        return [row["value"] for row in collected(tmp_path)]

    eventually(lambda: values() == ["old"] * 3, what="the old records")
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 4)], what="their commit")
    connectors.pause(name)
    topics.delete(name)
    topics.create(name)
    new = [f"new-{number}" for number in range(10)]
    topics.produce(name, [value.encode() for value in new])
    connectors.resume(name)
    eventually(lambda: values()[3:] == new, what="all the new records")
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 11)], what="the new place")


def test_a_list_of_topics_that_is_out_of_date_lets_nothing_begin_anew(
    connectors: ConnectClient,
    topics: Topics,
    worker: Worker,
    collecting,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As while a broker restarts: a topic is there with some of its partitions, then with all."""
    topics.create(name, 2)
    for partition in (0, 1):
        topics.produce(name, [f"{partition}:old".encode()], partition=partition)
    collecting()
    stands = [entry(name, 0, 2), entry(name, 1, 2)]
    eventually(lambda: connectors.offsets(name) == stands, what="both partitions")
    ends = worker.herder._context.ends
    true_list = ends.topics
    with monkeypatch.context() as partial:
        partial.setattr(ends, "topics", lambda: {**true_list(), name: 1})
        connectors.restart(name, include_tasks=True)
        for partition in (0, 1):
            topics.produce(name, [f"{partition}:new".encode()], partition=partition)
        moved = [entry(name, 0, 4), entry(name, 1, 2)]
        eventually(lambda: connectors.offsets(name) == moved, what="the partition that is listed")
    moved = [entry(name, 0, 4), entry(name, 1, 4)]
    eventually(lambda: connectors.offsets(name) == moved, what="the other one")
    values = sorted(row["value"] for row in collected(tmp_path))
    assert values == ["0:new", "0:old", "1:new", "1:old"]


def test_an_old_offset_that_was_committed_on_a_topic_made_anew(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """As by a lease that commits in the very moment: only the topic id in its copy tells."""
    topics.create(name)
    topics.produce(name, [b"old"] * 3)
    collecting()
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 4)], what="the old records")
    connectors.pause(name)
    stood = committed(topics.admin, f"connect-{name}")
    topics.delete(name)
    topics.create(name)
    new = [f"new-{number}" for number in range(10)]
    topics.produce(name, [value.encode() for value in new])
    set_offsets(topics.admin, f"connect-{name}", stood)
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, 11)], what="the new place")
    assert [row["value"] for row in collected(tmp_path)][3:] == new


def test_a_place_beyond_the_end_fails_the_task(
    connectors: ConnectClient, topics: Topics, collecting, reach, name: str
) -> None:
    """It would else read nothing, and pass over what comes, until the topic is as long."""
    topics.create(name)
    topics.produce(name, [b"0", b"1"])
    collecting("STOPPED")
    connectors.alter_offsets(name, [entry(name, 0, 7)])
    connectors.resume(name)
    topics.produce(name, [b"2"])
    reach("RUNNING", "FAILED")
    trace = connectors.status(name)["tasks"][0]["trace"]
    assert "but this connector is at 7: the topic was recreated, or has lost" in trace
