"""Leases of one carrier share what its clients may buffer."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease import buffers
from penstock.engine.lease.buffers import consumer_settings, transaction_bytes
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Limits, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.source_lease import BATCHES, SourceLoop
from penstock.engine.lease.topic_reader import SETTINGS
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.sdk import SourceTask

MOST_LEASES = 400


def test_a_lease_alone_has_all_that_it_can_use() -> None:
    assert transaction_bytes(1) == buffers.PRODUCER_BUDGET
    assert SETTINGS["fetch.message.max.bytes"] == 8 * 1024 * 1024
    assert SETTINGS["queued.max.messages.kbytes"] == 32 * 1024


@pytest.mark.parametrize("leases", [1, 3, 50, MOST_LEASES])
def test_all_together_stay_within_the_budget(leases: int) -> None:
    queued = consumer_settings(leases)["queued.max.messages.kbytes"] * 1024
    assert leases * transaction_bytes(leases) <= buffers.PRODUCER_BUDGET
    assert leases * queued <= buffers.CONSUMER_BUDGET


def test_a_share_is_never_useless() -> None:
    assert transaction_bytes(100_000) == buffers.LEAST
    assert consumer_settings(100_000)["queued.max.messages.kbytes"] * 1024 == buffers.LEAST


def test_a_source_that_shares_its_process_commits_when_its_share_is_full() -> None:
    """Nothing else makes it commit: it is never dry, and has a fast link."""
    assert _due(leases=1) is False
    assert _due(leases=MOST_LEASES) is True


def test_a_source_that_shares_its_process_polls_small_batches() -> None:
    assert _loop(leases=1)._room() == SourceTask.batch_bytes
    assert _loop(leases=MOST_LEASES)._room() == transaction_bytes(MOST_LEASES) // BATCHES


def _due(leases: int) -> bool:
    loop = _loop(leases)
    loop._begin()
    loop._count(1, transaction_bytes(MOST_LEASES))
    return loop._commit_due(dry=False)


def _loop(leases: int) -> SourceLoop:
    lease = Mock(
        limits=Limits(transaction_seconds=3600),
        tolerance=Tolerance(),
        pace=Pace(most_bytes=1 << 30),
        positions=(),
        topic_groups=(),
        pipeline=Pipeline(StringConverter(), StringConverter()),
    )
    return SourceLoop(lease, Heartbeat(leases=lambda: leases))
