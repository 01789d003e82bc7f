"""Counting records back from the end, as far as time allows."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from confluent_kafka import Message

from penstock.consumers.reading import counting_back
from penstock.consumers.reading.counting_back import SECONDS, starts_of_last
from penstock.consumers.reading.progress import Batch
from penstock.consumers.reading.reading import Plan
from penstock.kafka.clients import Connection

PLAN = Plan(Connection("unasked:9092"), "t", {}, lambda _: 0, {}, stops={0: 20}, committed=True)


class SlowReading:
    """Every offset but the last is a record's; one take, which costs time, reads them all."""

    def __init__(self, plan: Plan, pass_time: Callable[[], None]) -> None:
        self.finished = False
        self._offsets = range(plan.starts[0], plan.stops[0] - 1)
        self._pass_time = pass_time

    def take(self, _: float) -> Batch:
        self._pass_time()
        self.finished = True
        return Batch([Message(topic="t", partition=0, offset=offset) for offset in self._offsets])

    def close(self) -> None:
        """Nothing is left behind."""


@pytest.mark.parametrize(
    ("cost", "start"),
    [
        pytest.param(0.6 * SECONDS, 16, id="found-as-time-ran-out"),
        pytest.param(1.1 * SECONDS, 17, id="no-time-to-look-further-back"),
    ],
)
def test_what_was_read_when_time_ran_out_counts(
    monkeypatch: pytest.MonkeyPatch, cost: float, start: int
) -> None:
    """Three are wanted: of the last three offsets two are records, so it is read once more."""
    clock = [0.0]
    monkeypatch.setattr(counting_back, "time", SimpleNamespace(monotonic=lambda: sum(clock)))
    monkeypatch.setattr(
        counting_back, "Reading", lambda plan: SlowReading(plan, lambda: clock.append(cost))
    )
    assert starts_of_last(3, PLAN, {0: 0}) == {0: start}
