"""What a name promises: where the next consumer goes on."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from itertools import islice

import pytest

from group_offsets import set_offsets
from penstock.consumers import (
    Consumer,
    FlushFailed,
    InvalidConsumer,
    NoSuchTopic,
    NothingStored,
    Offset,
    OffsetGone,
    Strategy,
)
from penstock.consumers.registry.entries import RegistryKey
from penstock.embedded import EmbeddedBroker
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually


def numbers(records, count: int | None = None) -> list[int]:
    return [int(record.text) for record in islice(records, count)]


def test_asking_for_a_record_commits_the_one_before(consumer, stands) -> None:
    reader = consumer()
    assert numbers(reader, 4) == [0, 1, 2, 3]
    reader.flush()
    assert list(stands().values()) == [3], "the last one may still be in the making"
    assert int(next(reader).text) == 4
    reader.flush()
    assert list(stands().values()) == [4]


def test_a_clean_close_commits_the_last_one_and_the_next_goes_on_there(consumer) -> None:
    with consumer() as reader:
        assert numbers(reader, 4) == [0, 1, 2, 3]
    with consumer() as reader:
        assert numbers(reader, 2) == [4, 5]
    again = consumer(until_end=True)
    assert numbers(again) == [6, 7, 8, 9]
    again.close()
    assert numbers(consumer(until_end=True)) == []


def test_a_record_whose_handling_failed_comes_again(consumer) -> None:
    def handle_until(bad: int) -> None:
        with consumer() as reader:
            for record in reader:
                if int(record.text) == bad:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        handle_until(3)
    assert numbers(consumer(), 1) == [3]


def test_a_loop_that_was_left_goes_on_behind_its_last_record(consumer) -> None:
    reader = consumer()
    assert numbers(reader, 2) == [0, 1]
    assert int(next(reader).text) == 2
    assert numbers(reader, 2) == [3, 4]
    assert int(next(reader).text) == 5


def test_whoever_forgets_to_close_loses_only_the_last_being_done(
    consumer, broker: EmbeddedBroker, topic: str
) -> None:
    name, brokers = f"forgetful-of-{topic}", broker.bootstrap_servers
    program = (
        "from penstock.consumers import Consumer\n"
        f"consumer = Consumer({topic!r}, {name!r}, bootstrap_servers={brokers!r}, flush=600)\n"
        "for record in consumer:\n"
        "    if record.text == '3':\n"
        "        break\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert numbers(consumer(name=name), 1) == [3]


def test_one_that_nobody_knows_any_more_is_closed(broker: EmbeddedBroker, topic: str) -> None:
    def opened() -> Consumer:
        return Consumer(topic, f"lost-of-{topic}", bootstrap_servers=broker.bootstrap_servers)

    lost = opened()
    assert numbers(lost, 3) == [0, 1, 2]
    del lost
    gc.collect()
    with opened() as found:
        assert numbers(found, 1) == [2], "and its name is free"


def test_second_runs_read_only_what_is_new(consumer, topics: Topics, topic: str) -> None:
    with consumer(until_end=True) as reader:
        assert numbers(reader) == list(range(10))
    for n in (10, 11):
        topics.produce(topic, [b"%d" % n])
        with consumer(until_end=True) as reader:
            assert numbers(reader) == [n]


def test_manual_commits(consumer, stands) -> None:
    reader = consumer(strategy="manual", flush=600)
    first = list(islice(reader, 5))
    reader.flush()
    assert list(stands().values()) == [0]
    reader.commit(first[2])
    reader.flush()
    assert list(stands().values()) == [3]
    reader.commit()
    reader.commit(first[0])
    reader.flush()
    assert list(stands().values()) == [5], "it never goes back by itself"
    next(reader)
    reader.close()
    assert numbers(consumer(strategy=Strategy.MANUAL), 1) == [5]


@pytest.mark.parametrize("strategy", ["auto", "manual"])
def test_commits_are_stored_in_the_background(consumer, stands, strategy: str) -> None:
    reader = consumer(strategy=strategy, flush=0.1)
    list(islice(reader, 4))
    if strategy == "manual":
        reader.commit()
    wanted = 4 if strategy == "manual" else 3
    eventually(lambda: list(stands().values()) == [wanted], what="a flush in the background")


def test_without_a_name_nothing_is_stored(consumer, stands) -> None:
    reader = consumer(name=None)
    assert numbers(reader, 3) == [0, 1, 2]
    for call in (reader.commit, reader.flush):
        with pytest.raises(NothingStored, match="give it a name"):
            call()
    reader.close()
    assert stands() == {}


def test_a_consumer_that_has_read_nothing_is_listed(consumer, stands, topic: str) -> None:
    with consumer(start=Offset.from_end(3)):
        assert stands() == {RegistryKey(f"reader-of-{topic}", topic, 0): 7}


@pytest.mark.parametrize(
    ("start", "first"),
    [
        (Offset.beginning(), 0),
        ("beginning", 0),
        (Offset.absolute(4), 4),
        (Offset.from_beginning(2), 2),
        (Offset.from_end(4), 6),
        (Offset.at(0), 0),
    ],
)
def test_start_counts_only_where_nothing_is_stored(consumer, start: Offset, first: int) -> None:
    with consumer(start=start) as reader:
        assert numbers(reader, 1) == [first]
    with consumer(start=Offset.absolute(9)) as reader:
        assert numbers(reader, 1) == [first + 1]
    with consumer(reset=Offset.absolute(8)) as reader:
        assert numbers(reader, 1) == [8]


def test_the_end_is_the_end_of_now(consumer, topics: Topics, topic: str) -> None:
    reader = consumer(start=Offset.end()).open()
    topics.produce(topic, [b"11"])
    assert numbers(reader, 1) == [11]


@pytest.mark.parametrize("count", [1, 3, 12, 13, 100])
def test_the_last_records_are_counted_and_not_their_offsets(
    consumer, topics: Topics, topic: str, count: int
) -> None:
    """Behind the ten of the topic lie 300 that were aborted, two more, and three markers."""
    producer = topics.transaction(f"aborted-{topic}")
    for _ in range(300):
        producer.produce(topic, b"-1")
    producer.flush()
    producer.abort_transaction()
    topics.produce(topic, [b"10", b"11"])
    eventually(lambda: topics.end(topic) == 315, what="the end of both transactions")
    with consumer(start=Offset.from_end(count), until_end=True) as reader:
        assert numbers(reader) == list(range(12))[-count:]


def test_offsets_are_counted_where_records_cannot_be_counted_soon(
    consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.consumers.reading.counting_back.SECONDS", -1.0)
    with consumer(start=Offset.from_end(3), until_end=True) as reader:
        assert numbers(reader) == [8, 9], "and a marker"


def test_an_offset_that_is_not_there(consumer) -> None:
    with pytest.raises(OffsetGone, match="offsets 0 to 10, not 99"):
        consumer(start=Offset.absolute(99)).open()


def test_until_an_offset(consumer, stands) -> None:
    with consumer(last=5) as reader:
        assert numbers(reader) == [0, 1, 2, 3, 4, 5]
    assert list(stands().values()) == [6]


def test_all_partitions_and_some(consumer, topics: Topics, name: str, stands) -> None:
    other = f"{name}-three"
    topics.create(other, partitions=3)
    for partition in range(3):
        topics.produce(other, [b"%d" % partition] * 2, partition=partition)
    some = consumer(topic=other, partitions=[0, 2], until_end=True)
    assert sorted(numbers(some)) == [0, 0, 2, 2]
    some.close()
    every = consumer(topic=other, until_end=True)
    assert numbers(every) == [1, 1], "the others have been read under this name"
    every.close()
    one = consumer(topic=other, name="one", partitions=1, until_end=True)
    assert numbers(one) == [1, 1]
    with pytest.raises(NoSuchTopic, match="has no partition 3: it has 3, numbered from 0"):
        consumer(topic=other, partitions=[0, 3]).open()


def test_a_topic_that_does_not_exist(consumer, topics: Topics, name: str) -> None:
    with pytest.raises(NoSuchTopic, match=f'there is no topic "{name}-2"'):
        consumer(topic=f"{name}-2").open()
    assert f"{name}-2" not in topics.admin.list_topics(timeout=20).topics


def test_records_tell_everything(consumer, topics: Topics, name: str) -> None:
    producer = topics.transaction(f"test-{name}-records")
    topics.create(f"{name}-r")
    headers: list[tuple[str, str | bytes | None]] = [("a", b"1"), ("a", b"2"), ("none", None)]
    producer.produce(
        f"{name}-r", '{"ü": 1}'.encode(), b"k", headers=headers, timestamp=1_700_000_000_123
    )
    producer.produce(f"{name}-r", None, b"\xff")
    producer.commit_transaction(20)
    eventually(lambda: topics.end(f"{name}-r") == 3, what="the marker")
    first, second = consumer(topic=f"{name}-r", until_end=True)
    assert (first.topic, first.partition, first.offset) == (f"{name}-r", 0, 0)
    assert (first.key, first.key_text, first.text, first.json()) == (
        b"k",
        "k",
        '{"ü": 1}',
        {"ü": 1},
    )
    assert first.headers == headers
    assert first.timestamp == 1_700_000_000_123
    assert first.time.isoformat() == "2023-11-14T22:13:20.123000+00:00"
    assert (second.value, second.text, second.json(), second.headers) == (None, None, None, [])
    assert second.key_text == "\ufffd"


def test_async(consumer) -> None:
    async def read() -> list[int]:
        found = []
        async with consumer() as reader:
            async for record in reader:
                found.append(int(record.text))
                if len(found) == 4:
                    break
            await reader.flush_async()
        return found

    assert asyncio.run(read()) == [0, 1, 2, 3]
    assert numbers(consumer(), 1) == [4]


def test_a_wait_that_was_cancelled_loses_nothing(consumer, topics: Topics, topic: str) -> None:
    async def read() -> list[int]:
        reader = consumer(start=Offset.end())
        found: list[int] = []
        async with reader:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(aiter(reader)), 0.2)
            topics.produce(topic, [b"10", b"11"])
            async for record in reader:
                found.append(int(record.text))
                if found[-1] == 11:
                    break
        return found

    assert asyncio.run(read()) == [10, 11]


def test_a_loop_keeps_its_consumer(broker: EmbeddedBroker, topic: str) -> None:
    """Nobody else knows it: it must not be taken for a forgotten one."""
    brokers = broker.bootstrap_servers
    found = [
        int(record.text or "")
        for record in Consumer(topic, until_end=True, bootstrap_servers=brokers)
    ]
    assert found == list(range(10))


def test_an_error_does_not_end_the_records(consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = consumer()
    assert int(next(reader).text) == 0
    session = reader._opened()
    session._storing.trouble = FlushFailed("not stored")
    list(islice(session.progress.batch.records(), 9))  # what it has fetched is used up
    with pytest.raises(FlushFailed):
        next(reader)
    session.progress.batch.given = 1
    assert int(next(reader).text) == 1


def test_a_place_behind_an_open_transaction_is_no_place_that_is_gone(
    consumer, connection: Connection, topics: Topics, topic: str
) -> None:
    writing = topics.transaction(f"open-{topic}")
    writing.produce(topic, b"10")
    writing.produce(topic, b"11")
    assert writing.flush(20) == 0
    # Stored by somebody who reads what is not committed yet.
    set_offsets(clients.admin(connection), f"reader-of-{topic}", {(topic, 0): (12, "")})
    reader = consumer().open()
    writing.commit_transaction(20)
    topics.produce(topic, [b"14"])
    assert numbers(reader, 1) == [11]


def test_outside_tools_see_the_group(consumer, connection, topic: str) -> None:
    with consumer() as reader:
        numbers(reader, 4)
    found = groups.committed(clients.admin(connection), f"reader-of-{topic}")
    assert found == {(topic, 0): (4, "")}


def test_a_place_that_was_deleted_from_the_log(
    consumer, connection, topics: Topics, topic: str
) -> None:
    from confluent_kafka import TopicPartition

    with consumer() as reader:
        numbers(reader, 2)
    topics.admin.delete_records([TopicPartition(topic, 0, 5)])
    eventually(
        lambda: consumer(name=None, until_end=True).open() and _first(consumer) == 5,
        what="records that are gone",
    )
    with pytest.raises(OffsetGone, match="is at offset 2 in partition 0"):
        consumer().open()
    with consumer(when_gone="latest") as reader:
        topics.produce(topic, [b"99"])
        assert numbers(reader, 1) == [99]
    with pytest.raises(InvalidConsumer, match="when_gone is one of fail, earliest, latest"):
        consumer(when_gone="never")


def _first(consumer) -> int:
    with consumer(name=None) as reader:
        return numbers(reader, 1)[0]
