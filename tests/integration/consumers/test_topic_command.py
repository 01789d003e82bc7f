"""`penstock topic`."""

from __future__ import annotations

import json

import pytest

from commands import Commands
from free_ports import free_port
from topics import Topics


def described(penstock: Commands, topic: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(
        penstock.done("topic", "describe", topic, "-o", "jsonl").out
    )
    return found


def test_a_topic_from_its_creation_to_its_deletion(penstock: Commands, name: str) -> None:
    made = penstock.done("topic", "create", name, "-p", "2", "--config", "retention.ms=3600000")
    assert made.out == f'topic "{name}" created\n'
    penstock.done("produce", name, stdin=b"a\n")
    penstock.done("consume", name, "-B", "-d", "-c", name)
    lines = penstock.done("topic", "describe", name).lines
    assert lines == [
        f"Name: {name}",
        "Type: computed",
        "Partition Count: 2",
        "Replication Factor: 1",
        "Ignore Rack Assignment: false",
        "Status: provisioned",
        "Reason:",
        "Consumer TTL: none",
        "Consumers:",
        f"  - {name}/0",
        f"  - {name}/1",
    ]
    deleted = penstock.done("topic", "delete", name)
    assert deleted.out == f'topic "{name}" deleted\n'
    assert f"{name}/0, {name}/1" in deleted.err
    listed = penstock.done("consumer", "list", "-o", "jsonl").objects()
    assert name not in [each["consumer"] for each in listed]
    assert name not in penstock.done("topic", "list").out


def test_what_a_topic_says_of_its_consumers_can_be_changed(penstock: Commands, name: str) -> None:
    penstock.done("topic", "create", name, "--consumer-ttl", "12h")
    assert described(penstock, name)["consumer_ttl_ms"] == 12 * 3600 * 1000
    updated = penstock.done(
        "topic", "update", name, "--consumer-ttl", "30s", "--config", "retention.ms=60000"
    )
    assert updated.out == f'topic "{name}" updated\n'
    assert described(penstock, name)["consumer_ttl_ms"] == 30_000
    penstock.done("topic", "update", name, "--consumer-ttl", "none")
    assert described(penstock, name)["consumer_ttl_ms"] is None


def test_what_exists_is_not_made_again(penstock: Commands, name: str) -> None:
    penstock.done("topic", "create", name)
    again = penstock("topic", "create", name)
    assert again.code == 1
    assert "already exists" in again.err
    kept = penstock.done("topic", "create", name, "-p", "3", "--if-not-exists")
    assert kept.out == f'topic "{name}" already exists\n'
    assert described(penstock, name)["partitions"] == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["create", "no spaces"], "no spaces"),
        (["create", "t", "-r", "7"], "eplication"),
        (["create", "t", "--config", "nonsense=1"], "nonsense"),
        (["describe", "nobody-made-this"], "penstock topic create nobody-made-this"),
        (["delete", "nobody-made-this"], "penstock topic list"),
        (["update", "nobody-made-this", "--consumer-ttl", "1d"], "there is no topic"),
        (["delete", "__consumer_offsets"], "--force"),
    ],
)
def test_what_cannot_be_done(penstock: Commands, args: list[str], words: str) -> None:
    refused = penstock("topic", *args)
    assert refused.code == 1
    assert words in refused.err
    assert refused.out == ""


def test_a_wrong_setting_is_named(penstock: Commands, name: str) -> None:
    penstock.done("topic", "create", name)
    refused = penstock("topic", "update", name, "--config", "retention.ms=soon")
    assert refused.code == 1
    assert "retention.ms" in refused.err


def test_nothing_is_deleted_if_one_of_them_cannot_be(penstock: Commands, name: str) -> None:
    penstock.done("topic", "create", name)
    assert penstock("topic", "delete", name, "nobody-made-this").code == 1
    assert name in penstock.done("topic", "list").out


def test_internal_topics_are_hidden(penstock: Commands, topics: Topics, name: str) -> None:
    penstock.done("topic", "create", name)
    penstock.done("consume", name, "-d", "-c", name)
    shown = [topic["name"] for topic in penstock.done("topic", "list", "-o", "jsonl").objects()]
    assert name in shown
    assert not {"penstock-consumers", "__consumer_offsets"} & set(shown)
    assert "penstock-consumers" in penstock.done("topic", "list", "--all").out
    assert "--force" in penstock("topic", "delete", "penstock-consumers", "--yes").err
    assert topics.end("penstock-consumers", committed=False) > 0


def test_no_broker(penstock: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.cli.brokers.ANSWER_SECONDS", 1.0)
    address = f"127.0.0.1:{free_port()}"
    for args in (["consume", "t"], ["consumer", "list"]):
        failed = penstock(*args, "--bootstrap-servers", address)
        assert failed.code == 1
        assert failed.out == ""
        error, hint = failed.err.splitlines()
        assert error.startswith(f"Error: No Kafka broker answered at {address}")
        assert "Connection refused" in error
        assert hint.startswith("Next:  `penstock doctor --bootstrap-servers HOST:PORT`")
