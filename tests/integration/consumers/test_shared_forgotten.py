"""Topics that are deleted while instances share a name in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from penstock.consumers import Consumer, ConsumerError
from penstock.consumers.directory import Directory
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.topics_admin import TopicsAdmin
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from topics import Topics
from waiting import eventually


@pytest.fixture
def shared(consumer, topics: Topics, name: str, directory: Directory) -> Iterator[Consumer]:
    """An instance at work, alone so far."""
    topics.create(f"{name}-shared", partitions=2)
    instance = consumer(topic=f"{name}-shared", share=True).open()

    def listed() -> bool:
        instance.take(patience=0.1)
        return len(directory.stands(f"reader-of-{name}")) == 2

    eventually(listed, what="both partitions")
    yield instance
    end(instance)


def end(instance: Consumer) -> None:
    with contextlib.suppress(ConsumerError, KafkaFault):  # its topic is gone
        instance.close()


def test_its_consumers_go_with_it(
    shared: Consumer, connection: Connection, directory: Directory, name: str
) -> None:
    gone = TopicsAdmin(connection).delete(f"{name}-shared")
    assert gone == [RegistryKey(f"reader-of-{name}", f"{name}-shared", p) for p in (0, 1)]
    assert directory.stands(f"reader-of-{name}") == {}


def test_a_sweep_goes_past_them_and_comes_back(
    shared: Consumer, topics: Topics, directory: Directory, name: str
) -> None:
    topics.delete(f"{name}-shared")
    left = set(directory.stands(f"reader-of-{name}"))
    assert left.isdisjoint(directory.sweep())
    end(shared)
    eventually(lambda: left <= set(directory.sweep()), what="nobody there")
