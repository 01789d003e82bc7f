"""The names of the RFC at work, and two options that are seldom used."""

from __future__ import annotations

import asyncio

from penstock.consumers import Strategy
from penstock.consumers.rfc import ConsumerConfigExtBuilder, Offset, OffsetManagement, connect
from penstock.embedded import EmbeddedBroker
from topics import Topics


def test_a_consumer_that_was_built(broker: EmbeddedBroker, stands, topic: str) -> None:
    def reading(strategy: Strategy) -> ConsumerConfigExtBuilder:
        return (
            ConsumerConfigExtBuilder(topic)
            .partition(0)
            .max_bytes(1)
            .offset_consumer(f"built-of-{topic}")
            .offset_strategy(strategy)
            .offset_flush(600_000)
            .disable_continuous()
        )

    client = connect(broker.bootstrap_servers)
    config = reading(OffsetManagement.Manual).build()
    with client.consumer_with_config(config) as consumer:
        records = [record for record in consumer]  # noqa: C416 (as the RFC has it)
        assert [record.text for record in records] == [str(number) for number in range(10)]
        consumer.offset_commit(records[3])
        consumer.offset_flush()
        assert list(stands().values()) == [4]
        consumer.offset_commit()
        consumer.offset_flush()
        assert list(stands().values()) == [11], "the marker of the transaction counts, too"
    with client.consumer_with_config(config) as consumer:
        assert list(consumer) == []


def test_the_manual_example_of_the_rfc(broker: EmbeddedBroker, stands, topic: str) -> None:
    async def offset_example() -> list[str]:
        client = connect(broker.bootstrap_servers)
        config = (
            ConsumerConfigExtBuilder()
            .topic(topic)
            .partition(0)
            .offset_start(Offset.Beginning)
            .offset_consumer(f"my-consumer-of-{topic}")
            .offset_strategy(OffsetManagement.Manual)
            .offset_flush(600_000)
            .max_bytes(12300)
            .build()
        )
        seen = []
        async with client.consumer_with_config(config) as stream:
            while (record := await stream.next()) is not None:
                seen.append(record.get_value().as_utf8_lossy_string())
                if len(seen) == 3:
                    break
                stream.offset_commit()
            await stream.offset_flush()
            assert list(stands().values()) == [2]
        return seen

    assert asyncio.run(offset_example()) == ["0", "1", "2"]
    assert list(stands().values()) == [2], "the third was handed out and never committed"


def test_the_strategy_none_begins_where_the_name_stands_and_leaves_it_there(
    consumer, stands
) -> None:
    with consumer() as reader:
        assert [next(reader).text for _ in range(4)] == ["0", "1", "2", "3"]
    for _ in range(2):
        with consumer(strategy="none", until_end=True) as onlooker:
            assert [record.text for record in onlooker] == ["4", "5", "6", "7", "8", "9"]
    with consumer() as holder:
        assert next(holder).text == "4"
        with consumer(strategy="none") as onlooker:
            assert next(onlooker).text == "4", "it holds no name, and needs none"
    assert list(stands().values()) == [5]


def test_what_is_not_committed_is_read_only_by_who_says_so(
    consumer, topics: Topics, topic: str
) -> None:
    producer = topics.transaction(f"undecided-{topic}")
    producer.produce(topic, b"undecided")
    producer.flush()
    try:
        read = list(consumer(name=None, until_end=True, isolation="read_uncommitted"))
        assert read[-1].text == "undecided"
        read = list(consumer(name=None, until_end=True, isolation="read_committed"))
        assert read[-1].text == "9"
    finally:
        producer.abort_transaction()
