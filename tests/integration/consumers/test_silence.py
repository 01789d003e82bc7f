"""A client that has stopped fetching without a word is made to fetch anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from confluent_kafka import Consumer as Client

from penstock.consumers import Consumer
from penstock.consumers.reading.columns import ColumnReading
from penstock.consumers.reading.fetching import Fetcher
from topics import Topics
from waiting import eventually

Open = Callable[..., Consumer]
BOTH = pytest.mark.parametrize("share", [False, True], ids=["alone", "shared"])


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[Client]:
    """The clients that consumers read with from now on."""
    found: list[Client] = []
    begin = Fetcher.begin

    def noted(fetcher: Fetcher, starts: dict[int, int]) -> None:
        found.append(fetcher.consumer)
        begin(fetcher, starts)

    monkeypatch.setattr(Fetcher, "begin", noted)
    return found


@pytest.fixture
def short_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.kafka.silence.SILENCE_SECONDS", 1.0)


@BOTH
@pytest.mark.usefixtures("short_silence")
def test_what_came_meanwhile_is_read(
    consumer: Open, topics: Topics, topic: str, clients: list[Client], share: bool
) -> None:
    reader = consumer(share=share)
    read_to_the_end(reader)
    stop_fetching(clients[-1])
    topics.produce(topic, [b"10", b"11"])
    assert [record.text for record in islice(reader, 2)] == ["10", "11"]


@pytest.mark.usefixtures("short_silence")
def test_columns_go_on_where_they_were(
    consumer: Open, topics: Topics, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew: list[dict[int, int]] = []
    fetch_anew = ColumnReading.fetch_anew

    def noted(reading: ColumnReading, offsets: dict[int, int]) -> None:
        anew.append(offsets)
        fetch_anew(reading, offsets)

    monkeypatch.setattr(ColumnReading, "fetch_anew", noted)
    reader = consumer()
    assert list(islice(texts(reader), 10)) == [f"{n}" for n in range(10)]
    eventually(lambda: not reader.take_arrow(patience=0.5) and bool(anew), what="fetching anew")
    topics.produce(topic, [b"10"])
    assert next(texts(reader)) == "10"
    assert anew[0] == {0: 11}  # behind the marker of the transaction


def read_to_the_end(reader: Consumer) -> None:
    """And have the client say so."""
    assert [record.text for record in islice(reader, 10)] == [f"{n}" for n in range(10)]
    assert not reader.take(patience=0.5)


def stop_fetching(client: Client) -> None:
    client.assign([])


def texts(reader: Consumer) -> Iterator[str]:
    while (runs := reader.take_arrow(patience=0.5)) is not None:
        for run in runs:
            yield from (value.decode() for value in run.column("value").to_pylist())
