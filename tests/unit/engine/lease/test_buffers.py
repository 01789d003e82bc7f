"""Leases of one carrier share what its clients may buffer."""

from __future__ import annotations

import pytest

from penstock.engine.lease import buffers
from penstock.engine.lease.buffers import consumer_settings, transaction_bytes
from penstock.engine.lease.topic_reader import SETTINGS

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
