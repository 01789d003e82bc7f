"""The epoch of a lease grows within a worker and with every generation of the group."""

from __future__ import annotations

from penstock.engine.lease.lease import Membership
from penstock.kafka.generation import LAYOUT, MARK
from penstock.runtime.running.epochs import next_epoch


def in_generation(number: int) -> Membership:
    return Membership(LAYOUT.pack(MARK, number), "workers")


def test_it_grows_with_each_lease_and_more_with_each_generation() -> None:
    old = [next_epoch(in_generation(7)) for _ in range(1000)]
    assert old == sorted(set(old))
    assert next_epoch(in_generation(8)) > max(old)
    assert next_epoch(in_generation(2**31 - 1)) < 2**63
