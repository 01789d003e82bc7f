"""How many records a sink lease reads at once."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.lease import Limits, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import MOST_RECORDS, SinkLoop
from penstock.engine.pipeline.pipeline import Pipeline


def loop(**settings: str) -> SinkLoop:
    dotted = {key.replace("_", "."): value for key, value in settings.items()}
    pipeline = Pipeline(StringConverter(), StringConverter())
    lease: Any = Mock(
        limits=Limits(),
        tolerance=Tolerance(),
        pace=Pace(),
        consumer_settings=dotted,
        pipeline=pipeline,
    )
    return SinkLoop(lease, Mock(leases=lambda: 1))


@pytest.mark.parametrize(
    ("settings", "most"), [({}, MOST_RECORDS), ({"max_poll_records": "70"}, 70)]
)
def test_it_grows_while_puts_are_quick_up_to_max_poll_records(
    settings: dict[str, str], most: int
) -> None:
    reading = loop(**settings)
    assert reading._most <= most
    for _ in range(20):
        reading._learn(reading._most, seconds=0.001)
    assert reading._most == most
    reading._learn(reading._most, seconds=10)
    assert reading._most == most // 2


def test_it_shrinks_where_dead_letters_are_more_than_the_link_takes() -> None:
    reading = loop()
    before = reading._most
    reading._dead.waiting_bytes = 3 * reading._pace.most_bytes
    reading._learn(reading._most, seconds=0.001)
    assert reading._most == before // 2
    reading._begin()
    assert reading._commit_due(dry=False)


def test_batches_grow_although_a_few_records_take_long() -> None:
    """A target that takes 0.15 s for each batch, however large it is."""
    reading = loop()
    sizes = [reading._most]
    for _ in range(10):
        reading._learn(reading._most, seconds=0.15)
        sizes.append(reading._most)
    assert sizes[:4] == [100, 200, 400, 800]
    assert sizes[-1] == MOST_RECORDS
