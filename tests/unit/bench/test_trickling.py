"""Trickles: what is counted, and when they are warm."""

from __future__ import annotations

import os
from collections import deque
from types import SimpleNamespace

import pytest

from bench import trickling
from bench.rounds import percentile
from bench.trickle_rounds import Fewer
from bench.trickling import Record, Sample, Trickle

ME = os.getpid()


class Instant(Trickle):
    """Records arrive as soon as they come, but for those of connectors that are stuck."""

    def __init__(self, stuck: tuple[int, ...] = ()) -> None:
        bed = SimpleNamespace(broker=SimpleNamespace(pid=ME), say=lambda _: None)
        worker = SimpleNamespace(label="instant", pid=ME, stop=lambda: None)
        super().__init__(bed, worker)  # type: ignore[arg-type]  # stand-ins
        self.added: list[int] = []
        self._stuck = stuck
        self._there: deque[Record] = deque()

    def _add(self, number: int) -> None:
        self.added.append(number)

    def _feed(self, number: int, sent: int) -> None:
        if number not in self._stuck:
            self._there.extend([(number, sent)] * 2)  # at least once

    def _fed(self) -> None:
        pass

    def _arrived(self) -> list[Record]:
        return [self._there.popleft() for _ in range(len(self._there))]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trickling, "STEP_SECONDS", 0.1)
    monkeypatch.setattr(trickling, "LEAD_IN_SECONDS", 0.1)
    monkeypatch.setattr(trickling, "MOST_BEHIND_SECONDS", 0.2)
    monkeypatch.setattr(trickling, "LONGEST_SECONDS", 0.5)


def test_what_is_repeated_counts_once_and_every_connector_by_itself() -> None:
    side = Instant()
    side.grow_to(20)
    side.warm_up(0.0)
    side.p50(1.5)
    [sample] = side.samples
    assert set(sample.late) == set(range(20))
    assert sum(map(len, sample.late.values())) <= 40
    assert set(side.details()) == {"size", "rounds"}
    assert "CPU seconds per minute" in side.cost()


def test_what_has_not_arrived_counts_with_how_late_it_is_already() -> None:
    side = Instant(stuck=(3,))
    side.grow_to(20)
    side.p50(1.5)
    [sample] = side.samples
    assert set(sample.late) == set(range(20))
    assert max(sample.middles) == percentile(sample.late[3], 0.5)


def test_a_side_that_is_ever_more_behind_does_not_keep_up() -> None:
    side = Instant(stuck=tuple(range(20)))
    side.grow_to(20)
    with pytest.raises(TimeoutError, match="instant does not keep up"):
        side.warm_up(0.0)


def test_growing_makes_only_those_that_are_new_and_forgets_samples_of_fewer() -> None:
    side = Instant()
    side.grow_to(2)
    side.samples.append(sample(cpu=1.0))
    before = Fewer(side.size, side.samples)
    side.grow_to(4)
    assert side.added == [0, 1, 2, 3]
    assert not side.samples
    assert len(before.samples) == 1


@pytest.mark.parametrize(("cpu", "met"), [(5.0, True), (5.5, False)])
def test_growth_is_linear_while_one_more_costs_hardly_more_than_the_first(
    cpu: float, met: bool
) -> None:
    side = Instant()
    side.grow_to(50)
    side.samples.append(sample(cpu=cpu + 1.0))
    figure = Fewer(10, [sample(cpu=1.0)]).growth(side)
    assert figure.met("each of the first 10") is met


def sample(cpu: float) -> Sample:
    return Sample({0: [1.0]}, cpu, 0.0, 0)
