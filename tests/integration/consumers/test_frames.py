"""The unread part of a topic, in Spark."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.consumers import Fenced, NameHeld, dataframe
from penstock.embedded import EmbeddedBroker
from penstock.runtime.worker import Worker
from topics import Topics


@pytest.fixture
def unread(worker: Worker, broker: EmbeddedBroker, topic: str):
    """What a consumer of the topic has not read, in the session of the run's worker."""
    spark = worker.herder._context.engine.session.get()
    brokers: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
    return lambda **options: dataframe(spark, topic, f"reader-of-{topic}", **brokers, **options)


def _numbers(found) -> list[int]:
    return [int(bytes(row.value)) for row in found.frame.orderBy("offset").collect()]


def test_a_range_is_unread_until_it_is_committed(unread, topics: Topics, topic: str) -> None:
    with unread() as found:
        assert _numbers(found) == list(range(10))
        topics.produce(topic, [b"10"])
        assert _numbers(found) == list(range(10)), "the range stays what it was"
    with unread() as found:
        assert _numbers(found) == list(range(11))
        found.commit()
    with unread() as found:
        assert (_numbers(found), found.count) == ([], 0)


def test_it_holds_the_name(unread, consumer) -> None:
    with unread() as found:
        with pytest.raises(NameHeld):
            consumer().open()
        taken = consumer(take_over=True).open()
        with pytest.raises(Fenced):
            found.commit()
        taken.close()
