"""A consumer that was away for longer than its session goes on, unless somebody came meanwhile."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from itertools import islice

import pytest
from confluent_kafka import Consumer as Plain
from confluent_kafka import TopicPartition

from penstock.consumers import Consumer, Fenced, Offset
from penstock.consumers.directory import Directory
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy

Visit = Callable[[], None]


def texts(records, count: int) -> list[str]:
    return [record.text for record in islice(records, count)]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that is slow, and not away, is waited for."""
    monkeypatch.setattr("penstock.consumers.holding.absence.REACH_SECONDS", 60.0)


@pytest.fixture
def stored(connection: Connection, topic: str) -> Callable[[], int]:
    """What the group of the consumer has."""
    admin = clients.admin(connection)
    return lambda: groups.committed(admin, f"reader-of-{topic}")[(topic, 0)][0]


@pytest.fixture
def put_out(connection: Connection, topic: str) -> Callable[[Consumer], None]:
    """Has the group forget whoever holds its slots, as it does when a session is over."""
    name = f"reader-of-{topic}"

    def put_out(reader: Consumer) -> None:
        slots = groups.static_members(clients.admin(connection), name)
        groups.remove_members(connection, name, {slot: None for slot in slots if slot})
        eventually(lambda: reader._opened()._keeper.lost, what="a consumer that notices")

    return put_out


def test_a_command_that_was_frozen(reading, freeze, consumer, topics: Topics, topic: str) -> None:
    assert [reading.stdout.readline() for _ in range(10)] == [b"%d\n" % n for n in range(10)]
    freeze(reading)
    topics.produce(topic, [b"10", b"11"])
    reading.send_signal(signal.SIGCONT)
    assert [reading.stdout.readline() for _ in range(2)] == [b"10\n", b"11\n"]
    topics.produce(topic, [b"12"])
    assert reading.stdout.readline() == b"12\n"
    reading.send_signal(signal.SIGTERM)
    out, err = reading.communicate(timeout=30)
    assert (reading.returncode, out) == (0, b""), err
    assert list(consumer(until_end=True)) == [], "everything was stored"


@pytest.mark.parametrize("strategy", ["auto", "manual"])
def test_what_was_committed_is_stored_and_it_reads_on(
    consumer, topics: Topics, topic: str, stored, put_out, strategy: str
) -> None:
    reader = consumer(strategy=strategy, flush=600)
    assert texts(reader, 10) == list(map(str, range(10)))
    reader.commit()
    put_out(reader)
    assert stored() == 0
    topics.produce(topic, [b"10", b"11"])
    assert texts(reader, 1) == ["10"]
    assert stored() >= 10
    assert texts(reader, 1) == ["11"]
    reader.close()
    left = ["10", "11"] if strategy == "manual" else []
    assert [record.text for record in consumer(until_end=True)] == left


def test_it_comes_back_again_and_again(consumer, topics: Topics, topic: str, put_out) -> None:
    reader = consumer(flush=600)
    texts(reader, 10)
    for number in range(2):
        put_out(reader)
        topics.produce(topic, [b"more %d" % number])
        assert texts(reader, 1) == [f"more {number}"]
        reader.flush()
    consumer(take_over=True).open()
    eventually(lambda: reader._opened()._keeper.fenced, what="one that was taken over from")


def test_closing_stores_what_was_committed(consumer, stored, put_out) -> None:
    reader = consumer(strategy="manual", flush=600)
    texts(reader, 4)
    reader.commit()
    put_out(reader)
    reader.close()
    assert stored() == 4
    assert texts(consumer(), 1) == ["4"], "and the name is free at once"


def test_in_the_background(consumer, stored, put_out) -> None:
    reader = consumer(strategy="manual", flush=0.2)
    texts(reader, 3)
    name = reader._opened()._keeper.name
    right = reader._opened()._keeper._right
    before = right.holder.member
    groups.remove_members(reader._connection, name, {reader.options.topic: None})
    eventually(lambda: right.holder.member != before, what="another member")
    reader.commit()
    eventually(lambda: stored() == 3, what="what was committed")


def test_without_keeping_an_event_loop_waiting(
    consumer, topics: Topics, topic: str, put_out
) -> None:
    async def read(count: int) -> list[str | None]:
        found: list[str | None] = []
        async for record in reader:
            found.append(record.text)
            if len(found) == count:
                break
        return found

    reader = consumer(flush=600)
    assert asyncio.run(read(10)) == list(map(str, range(10)))
    put_out(reader)
    topics.produce(topic, [b"10"])
    assert asyncio.run(read(1)) == ["10"]


def test_one_that_has_taken_over_from_several(consumer, topics: Topics, name: str, put_out) -> None:
    topics.create(f"{name}-2", partitions=2)
    before = [consumer(topic=f"{name}-2", partitions=p).open() for p in range(2)]
    reader = consumer(topic=f"{name}-2", take_over=True, flush=600).open()
    put_out(reader)
    topics.produce(f"{name}-2", [b"new"], partition=1)
    assert texts(reader, 1) == ["new"]
    reader.flush()
    eventually(
        lambda: all(each._opened()._keeper.fenced for each in before), what="both taken over from"
    )
    for each in before:
        with pytest.raises(Fenced):
            each.flush()


@pytest.fixture
def visits(consumer, connection: Connection, directory: Directory, topic: str) -> dict[str, Visit]:
    """What somebody may do with the name of a consumer that is away."""
    name = f"reader-of-{topic}"

    def read_and_close() -> None:
        with consumer(start=Offset.beginning()) as other:
            texts(other, 1)

    def read_nothing() -> None:
        consumer(partitions=0).open().close()

    def reset() -> None:
        directory.reset(name, topic, Offset.absolute(7))

    def delete() -> None:
        directory.delete(name, force=True)

    def commit_plainly() -> None:
        plain = _plain(connection, name)
        plain.subscribe([topic])
        eventually(lambda: plain.poll(0.1) is not None, what="a member of the group")
        plain.commit(offsets=[TopicPartition(topic, 0, 7)], asynchronous=False)
        plain.close()

    every = (read_and_close, read_nothing, reset, delete, commit_plainly)
    return {visit.__name__: visit for visit in every}


def _plain(connection: Connection, group: str) -> Plain:
    return Plain(
        {
            "bootstrap.servers": connection.bootstrap_servers,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


@pytest.mark.parametrize(
    "visit", ["read_and_close", "read_nothing", "reset", "delete", "commit_plainly"]
)
def test_somebody_came(
    consumer, visits: dict[str, Visit], put_out, connection: Connection, topic: str, visit: str
) -> None:
    reader = consumer(flush=600)
    texts(reader, 10)
    put_out(reader)
    visits[visit]()
    admin, name = clients.admin(connection), f"reader-of-{topic}"
    committed, members = groups.committed(admin, name), groups.members(admin, name)
    for call in (reader.flush, reader.commit, lambda: next(reader)):
        with pytest.raises(Fenced, match="another one used the name"):
            call()
    reader.close()
    assert groups.committed(admin, name) == committed, "whoever came is left alone"
    assert set(groups.members(admin, name)) <= set(members)


def test_only_the_member_that_is_meant_leaves(consumer, connection: Connection, topic: str) -> None:
    consumer().open()
    admin, name = clients.admin(connection), f"reader-of-{topic}"
    before = groups.static_members(admin, name)
    groups.remove_members(connection, name, {topic: "somebody-else"})
    assert groups.static_members(admin, name) == before
    groups.remove_members(connection, name, {topic: before[topic]})
    assert groups.static_members(admin, name) == {}


def test_committing_waits_for_nobody(consumer, put_out, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = consumer(strategy="manual", flush=600)
    texts(reader, 3)
    put_out(reader)
    with monkeypatch.context() as patched:
        patched.setattr(
            reader._opened()._storing, "_regain", lambda: pytest.fail("it asked the brokers")
        )
        reader.commit()
    reader.flush()
