"""A sink's lease that was killed in the middle of its commit leaves a transaction open."""

from __future__ import annotations

import itertools
from zlib import crc32

import pytest

from group_offsets import set_offsets
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable, LeaseLost
from penstock.kafka.names import transactional_id
from penstock.kafka.sink_copies import copy_key, copy_value
from penstock.kafka.transactions import Transactions, fence
from penstock.runtime.stores.position_copies import PARTITIONS
from penstock.runtime.stores.sink_groups import chosen_group
from penstock.runtime.stores.sink_positions import known_positions
from topics import Topics

SINK = chosen_group("sink", {})


@pytest.fixture
def killed_lease(connection: Connection, name: str) -> Transactions:
    """The producer of a sink's task, with a copy written and not committed.

    It is one of an earlier version: that is where its copies were.
    """
    lease = Transactions(connection, transactional_id(name, "sink", 0))
    lease.send(f"{name}-workers", copy_value(3, ""), copy_key(SINK, "lines", 0))
    lease.raw.flush(10)
    return lease


@pytest.mark.parametrize("duty", ["take_over", "rebalance"])
def test_the_leader_is_not_held_up_by_it(join, request: pytest.FixtureRequest, duty: str) -> None:
    leader = join()
    leader.leadership.take_over()
    configs = leader.leadership.context.configs
    configs.put_connector("sink", {"topics": "lines"})
    configs.put_tasks("sink", [{}])
    lease: Transactions = request.getfixturevalue("killed_lease")
    with pytest.raises(BrokerUnavailable):
        leader.workers.read_to_end(0.5)

    getattr(leader.leadership, duty)()
    leader.workers.read_to_end(30)
    with pytest.raises(LeaseLost):
        lease.commit([], [])
    assert leader.copies.of(SINK) == {}


def neighbour(of: str) -> str:
    """A connector whose copies are in the same partition."""
    home = crc32(of.encode()) % PARTITIONS
    names = (f"neighbour-{number}" for number in itertools.count())
    return next(name for name in names if crc32(name.encode()) % PARTITIONS == home)


def test_a_sink_that_freezes_while_it_commits_holds_up_no_other(
    join, connection: Connection, group_admin: GroupAdmin, topics: Topics, name: str
) -> None:
    """Neither who runs what, nor a sink that knows from its group where it stands."""
    topics.create(name, 2)
    worker = join()
    frozen = Transactions(connection, transactional_id(name, "sink", 0))
    [(topic, key, value, at)] = worker.copies.setting(SINK, ("lines", 0), (3, ""), None)
    frozen.send(topic, value, key, partition=at)
    frozen.raw.flush(10)

    worker.leadership.assignments.assigner.read_to_end(20)
    sink = chosen_group(neighbour("sink"), {})
    stands = {(name, 0): (4, "")}
    set_offsets(group_admin, sink.group_id, stands)
    both = [(name, 0), (name, 1)]
    known = known_positions(group_admin, worker.copies, sink, both)
    assert known.committed == stands
    assert known.asked == {(name, 0)}, "nothing is known of the other one yet: it is not begun"

    fence(connection, [transactional_id(name, "sink", 0)])  # as its heir does
    assert worker.copies.catch_up(sink, 20)
    assert known_positions(group_admin, worker.copies, sink, both).asked == {*both}
