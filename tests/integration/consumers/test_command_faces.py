"""Commands about topics and consumers in the less usual cases."""

from __future__ import annotations

import os
import signal

import pytest

from commands import Commands
from penstock.cli import consume, silence
from penstock.cli.silence import Silence
from penstock.consumers.directory import Directory
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually


@pytest.mark.parametrize("more", [["-d"], ["-n", "5"]])
def test_a_read_ends_whose_broker_is_gone_before_its_end(
    penstock: Commands,
    own_broker: EmbeddedBroker,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    more: list[str],
) -> None:
    for limit in ("QUIET", "ANSWER", "TOLD"):
        monkeypatch.setattr(silence, f"{limit}_SECONDS", 0.5)
    monkeypatch.setattr(silence, "GIVEN_UP_SECONDS", 2.0)

    def frozen(connection: Connection, *, limited: bool) -> Silence:
        os.kill(own_broker.pid, signal.SIGSTOP)
        return silence.listening(connection, limited=limited)

    monkeypatch.setattr(consume, "listening", frozen)
    topics = Topics(own_broker.bootstrap_servers)
    topics.create(name)
    topics.produce(name, [b"%d" % number for number in range(3)])
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", own_broker.bootstrap_servers)
    try:
        ended = penstock("consume", name, "-B", *more)
    finally:
        os.kill(own_broker.pid, signal.SIGCONT)
    assert ended.code == 1
    told, error, hint = ended.err.splitlines()
    assert told.startswith(f"no answer from the brokers at {own_broker.bootstrap_servers} since")
    assert error.startswith(
        f"Error: No Kafka broker at {own_broker.bootstrap_servers} has answered"
    )
    assert hint.startswith("Next:  `penstock doctor --bootstrap-servers HOST:PORT`")


def test_an_end_before_the_beginning(penstock: Commands, topic: str) -> None:
    for begin in (["-T", "2"], ["-T", "0"], ["-H", "8"], ["--since", "0.001s"]):
        refused = penstock("consume", topic, *begin, "--end", "7")
        assert (refused.code, refused.out) == (2, "")
        assert "--end 7 lies before the first record to read" in " ".join(refused.err.split())
    assert penstock.done("consume", topic, "-T", "3", "--end", "7").out == "7\n"


def test_an_internal_topic_is_deleted_by_force(
    penstock: Commands, topics: Topics, name: str
) -> None:
    internal = f"__{name}"
    topics.create(internal)
    assert "--force" in penstock("topic", "delete", internal, "--yes").err
    assert internal in topics.admin.list_topics(timeout=20).topics
    done = penstock.done("topic", "delete", internal, "--force")
    assert done.out == f'topic "{internal}" deleted\n'
    eventually(lambda: internal not in topics.admin.list_topics(timeout=20).topics, what="its end")


def test_a_consumer_that_has_expired_does_not_come_back(
    penstock: Commands, directory: Directory, topic: str, name: str
) -> None:
    penstock.done("consume", topic, "-c", name, "-B", "-n", "4", "--ttl", "1ms")
    eventually(lambda: name not in directory.names(), what="its end")
    refused = penstock("consumer", "update", name, "--ttl", "none")
    assert refused.code == 1
    assert f'there is no consumer "{name}"' in refused.err
    penstock.done("topic", "update", topic, "--consumer-ttl", "none")
    assert penstock.done("consume", topic, "-c", name, "-B", "-n", "1").out == "0\n"


def test_an_expired_consumer_of_a_topic_stays_so_when_that_keeps_them(
    penstock: Commands, directory: Directory, topic: str, name: str
) -> None:
    penstock.done("topic", "update", topic, "--consumer-ttl", "1ms")
    penstock.done("consume", topic, "-c", name, "-B", "-n", "4")
    eventually(lambda: name not in directory.names(), what="its end")
    penstock.done("topic", "update", topic, "--consumer-ttl", "none")
    assert name not in directory.names()
    assert penstock.done("consume", topic, "-c", name, "-B", "-n", "1").out == "0\n"
