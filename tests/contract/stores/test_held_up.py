"""A sink's lease that was killed in the middle of its commit leaves a transaction open."""

from __future__ import annotations

import pytest

from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable, LeaseLost
from penstock.kafka.names import transactional_id
from penstock.kafka.sink_copies import copy_key, copy_value
from penstock.kafka.transactions import Transactions
from penstock.runtime.sink_groups import chosen_group

SINK = chosen_group("sink", {})


@pytest.fixture
def killed_lease(connection: Connection, name: str) -> Transactions:
    """The producer of a sink's task, with a copy written and not committed."""
    lease = Transactions(connection, transactional_id(name, "sink", 0))
    lease.send(f"{name}-workers", copy_value(3, ""), copy_key(SINK, "lines", 0))
    lease.raw.flush(10)
    return lease


@pytest.mark.parametrize("duty", ["take_over", "rebalance"])
def test_the_leader_is_not_held_up_by_it(join, request: pytest.FixtureRequest, duty: str) -> None:
    leader = join()
    leader.duties.take_over()
    configs = leader.duties.context.configs
    configs.put_connector("sink", {"topics": "lines"})
    configs.put_tasks("sink", [{}])
    lease: Transactions = request.getfixturevalue("killed_lease")
    with pytest.raises(BrokerUnavailable):
        leader.copies.log.read_to_end(0.5)

    getattr(leader.duties, duty)()
    leader.copies.log.read_to_end(30)
    with pytest.raises(LeaseLost):
        lease.commit([], [])
    assert leader.copies.of(SINK) == {}
