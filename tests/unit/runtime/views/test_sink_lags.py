"""The lag of sinks: from positions in memory and one question to Kafka for all of them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.kafka import partition_offsets
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.partition_offsets import Answers
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.runtime.config.override_policy import OverridePolicy
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.context import Context
from penstock.runtime.stores.sink_groups import chosen_group
from penstock.runtime.views import sink_lags
from penstock.runtime.views.sink_lags import PartitionLag, SinkLags
from waiting import eventually

CONFIGS = {
    "one": {"connector.class": "FileStreamSink", "topics": "t"},
    "two": {"connector.class": "FileStreamSink", "topics.regex": "t|u"},
    "lines": {"connector.class": "FileStreamSource"},
    "gone": {"connector.class": "not.Installed"},
}
ONE = chosen_group("one", {})


class Kafka:
    """Answers as a broker would, and notes what it was asked."""

    def __init__(self) -> None:
        self.ends = {("t", 0): 10, ("t", 1): 5, ("u", 0): 100}
        self.asked: list[tuple[str, set[PartitionId]]] = []
        self.answers = threading.Event()
        self.answers.set()

    def end(self, _: object, partitions: Iterable[PartitionId], *, committed: bool) -> Any:
        assert committed
        return self._answer("ends", partitions, self.ends)

    def begin(self, _: object, partitions: Iterable[PartitionId]) -> Any:
        return self._answer("begins", partitions, dict.fromkeys(self.ends, 2))

    def _answer(self, what: str, partitions: Iterable[PartitionId], known: Any) -> Any:
        wanted = set(partitions)
        self.asked.append((what, wanted))
        self.answers.wait(10)
        return Answers({position: known[position] for position in wanted if position in known})


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    kafka = Kafka()
    monkeypatch.setattr(partition_offsets, "ends", kafka.end)
    monkeypatch.setattr(partition_offsets, "beginnings", kafka.begin)
    return kafka


@pytest.fixture
def context() -> Any:
    copies: dict[Any, Any] = {ONE: {("t", 0): (4, ""), ("t", 1): (5, "")}}
    return SimpleNamespace(
        admin=None,
        plugins=Plugins(),
        sink_groups=SimpleNamespace(of=lambda name: chosen_group(name, CONFIGS[name])),
        copies=SimpleNamespace(of=lambda sink: copies.get(sink, {}), all=copies),
        ends=SimpleNamespace(topics=lambda: {"t": 2, "u": 1, "other": 9}),
        configs=SimpleNamespace(names=lambda: list(CONFIGS), config=CONFIGS.get),
    )


@pytest.fixture
def lags(context: Any, kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> Iterator[SinkLags]:
    monkeypatch.setattr(sink_lags, "PATIENCE_SECONDS", 20.0)
    yield (lags := SinkLags(cast(Context, context)))
    kafka.answers.set()
    assert lags._arrived.wait(20), "it would ask the next test's Kafka"


def test_every_sink(lags: SinkLags, kafka: Kafka) -> None:
    lags.refresh()
    assert lags.of("one") == [PartitionLag("t", 0, 4, 10, 6), PartitionLag("t", 1, 5, 5, 0)]
    assert lags.of("two") == [
        PartitionLag("t", 0, None, 10, 8),
        PartitionLag("t", 1, None, 5, 3),
        PartitionLag("u", 0, None, 100, 98),
    ]
    assert lags.of("lines") is None
    assert lags.of("gone") is None
    everything = {("t", 0), ("t", 1), ("u", 0)}
    assert sorted(kafka.asked) == [("begins", everything), ("ends", everything)]


def test_nothing_is_known_before_it_was_asked_for(lags: SinkLags) -> None:
    assert lags.of("one") is None


def test_positions_are_as_fresh_as_the_memory(
    lags: SinkLags, context: Any, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_lags, "FRESH_SECONDS", 600.0)
    lags.refresh()
    context.copies.all[ONE][("t", 0)] = (9, "")
    lags.refresh()
    assert lags.of("one") == [PartitionLag("t", 0, 9, 10, 1), PartitionLag("t", 1, 5, 5, 0)]
    assert len(kafka.asked) == 2  # once each: what was asked a moment ago is fresh enough


def test_ends_are_asked_for_again(
    lags: SinkLags, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    lags.refresh()
    monkeypatch.setattr(sink_lags, "FRESH_SECONDS", 0.0)
    kafka.ends["t", 0] = 20
    lags.refresh()
    found = lags.of("one")
    assert found is not None
    assert found[0].lag == 16


def test_a_broker_that_does_not_answer_holds_nobody_up(
    lags: SinkLags, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_lags, "PATIENCE_SECONDS", 0.05)
    kafka.answers.clear()
    for _ in range(1000):  # a list of as many connectors
        lags.refresh()
    assert lags.of("one") is None
    eventually(lambda: kafka.asked, what="the question")
    assert len(kafka.asked) == 1


def test_a_broker_that_is_gone_leaves_the_last_answer(
    lags: SinkLags, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lags.refresh()

    def gone() -> Any:
        raise BrokerUnavailable("nobody answers")

    context.ends.topics = gone
    monkeypatch.setattr(sink_lags, "FRESH_SECONDS", 0.0)
    lags.refresh()
    assert lags.of("one") == [PartitionLag("t", 0, 4, 10, 6), PartitionLag("t", 1, 5, 5, 0)]


def test_positions_are_those_of_its_group(lags: SinkLags, context: Any) -> None:
    chosen = SimpleNamespace(of=lambda name: SinkGroup(name, "chosen"))
    context.sink_groups = chosen
    context.copies.all[chosen.of("one")] = {("t", 0): (9, "")}
    lags.refresh()
    assert lags.of("one") == [PartitionLag("t", 0, 9, 10, 1), PartitionLag("t", 1, None, 5, 3)]


def test_a_group_that_is_not_to_be_had(lags: SinkLags, context: Any) -> None:
    forbidden = OverridePolicy("None")
    context.sink_groups = SimpleNamespace(of=lambda _: forbidden.require("consumer", "group.id"))
    lags.refresh()
    assert lags.of("one") == [PartitionLag("t", 0, None, 10, 8), PartitionLag("t", 1, None, 5, 3)]
