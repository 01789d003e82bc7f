"""A sink whose config names the group of its offsets: consumer.override.group.id."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from penstock.client import ConnectClient
from sink_offsets import collected, entry, groups, in_group
from topics import Topics
from waiting import eventually

KEY = "consumer.override.group.id"
RECORDS = ["0", "1", "2", "3", "4"]
END = 6
"""Of the records and the marker behind them."""


@pytest.fixture
def records(topics: Topics, name: str) -> None:
    """A topic of this test's name."""
    topics.create(name)
    topics.produce(name, [value.encode() for value in RECORDS])


def commit(topics: Topics, group: str, topic: str, offset: int) -> None:
    """As any consumer does that stops there."""
    consumer = Consumer(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
        }
    )
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()
    assert in_group(topics, group) == [entry(topic, 0, offset)]


def values(folder: Path) -> list[str]:
    return [row["value"] for row in collected(folder)]


@pytest.mark.usefixtures("records")
def test_a_sink_goes_on_where_the_group_stands(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """And every request about its offsets is about that group."""
    group = f"app-{name}"
    commit(topics, group, name, 3)
    collecting(**{KEY: group})

    def stands(offset: int) -> bool:
        return connectors.offsets(name) == in_group(topics, group) == [entry(name, 0, offset)]

    eventually(lambda: stands(END), what="the rest of the topic")
    assert values(tmp_path) == RECORDS[3:]

    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 4)])
    assert stands(4)
    topics.admin.delete_consumer_groups([group])[group].result(20)
    assert connectors.offsets(name) == [entry(name, 0, 4)], "known from its copy"
    assert in_group(topics, group) == [], "a question writes nothing: the next lease does"
    connectors.resume(name)
    eventually(lambda: stands(END), what="the altered offset")
    assert values(tmp_path) == [*RECORDS[3:], *RECORDS[4:]]

    connectors.stop(name)
    connectors.reset_offsets(name)
    assert connectors.offsets(name) == []
    assert group not in groups(topics)
    connectors.resume(name)
    eventually(lambda: stands(END), what="everything")
    assert values(tmp_path) == [*RECORDS[3:], *RECORDS[4:], *RECORDS]

    connectors.delete(name)
    assert in_group(topics, group) == [entry(name, 0, END)]
    assert f"connect-{name}" not in groups(topics)


@pytest.mark.usefixtures("records")
def test_another_group_while_it_runs(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """Each group has its own place, and the copies of one are none of the other."""
    config = collecting()
    done = [entry(name, 0, END)]
    eventually(lambda: in_group(topics, f"connect-{name}") == done, what="its own group")

    stood, fresh = f"stood-{name}", f"fresh-{name}"
    commit(topics, stood, name, 2)
    for group in (stood, fresh):
        connectors.put_config(name, {**config, KEY: group})
        eventually(lambda: in_group(topics, group) == done, what=group)  # noqa: B023 (called at once)
    everything = [*RECORDS, *RECORDS[2:], *RECORDS]
    assert values(tmp_path) == everything

    connectors.put_config(name, config)
    topics.produce(name, [b"last"])
    eventually(lambda: connectors.offsets(name) == [entry(name, 0, END + 2)], what="the last")
    assert values(tmp_path) == [*everything, "last"]
    assert in_group(topics, stood) == in_group(topics, fresh) == done


@pytest.mark.usefixtures("records")
def test_a_group_that_a_reference_names(
    connectors: ConnectClient, topics: Topics, collecting, referred, name: str, tmp_path: Path
) -> None:
    """Also when another takes its place; the config keeps the reference."""
    reference = referred(group=f"one-{name}")["group"]
    collecting(**{KEY: reference})
    done = [entry(name, 0, END)]
    eventually(lambda: in_group(topics, f"one-{name}") == done, what="the first group")
    assert connectors.config(name)[KEY] == reference
    assert connectors.offsets(name) == done

    commit(topics, f"two-{name}", name, 4)
    referred(group=f"two-{name}")
    eventually(lambda: in_group(topics, f"two-{name}") == done, within=60, what="the second group")
    assert values(tmp_path) == [*RECORDS, *RECORDS[4:]]
    assert connectors.offsets(name) == done


def test_groups_that_are_not_to_be_had(
    connectors: ConnectClient, collecting, refused, referred, reach, name: str, tmp_path: Path
) -> None:
    collecting("STOPPED")
    other = f"other-{name}"
    config = {"connector.class": "CollectingSink", "topics": name, "out": str(tmp_path)}

    def answer(group: str) -> tuple[int, str]:
        status, text = refused(lambda: connectors.create(other, {**config, KEY: group}))
        return status, text

    def trace() -> str:
        return connectors.status(name)["connector"].get("trace", "")

    assert answer(f"connect-{name}") == (
        400,
        f"Connector {name} keeps its offsets in the same consumer group. Both would read every "
        f"record and overwrite each other's offsets: give one of them another {KEY}.",
    )
    status, text = answer("suite")
    assert status == 400
    assert "\nConsumer group suite conflicts with Connect worker group suite\n" in text
    status, text = answer(" ")
    assert status == 400
    assert "\n'group.id' is empty: name a group, or remove the key\n" in text

    reference = referred(group=f"free-{name}")["group"]
    connectors.put_config(name, {**config, KEY: reference})
    referred(group="suite")
    connectors.resume(name)
    reach("FAILED")
    assert trace().startswith("ConfigError: Consumer group [hidden] conflicts with Connect worker")

    connectors.create(other, {**config, KEY: f"taken-{name}"}, "STOPPED")
    referred(group=f"taken-{name}")
    shared = f"ConfigError: Connector {other} keeps its offsets in the same consumer group."
    eventually(lambda: trace().startswith(shared), within=60, what="another reason")


def test_an_offsets_topic_of_a_sources_own_is_warned_of(
    connectors: ConnectClient, topics: Topics, scripted, arrive, name: str, log
) -> None:
    scripted(count=3, offsets_storage_topic=f"own-{name}")
    arrive(3)
    warnings = [line for line in log() if "offsets.storage.topic has no effect" in line]
    assert len(warnings) == 1
    assert f" WARN [{name}|worker] " in warnings[0]
    assert "stored in the worker's topic penstock-offsets" in warnings[0]
    assert f"own-{name}" not in topics.admin.list_topics(timeout=20).topics
