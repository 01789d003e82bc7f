"""Rule 7 on a link that takes little, or nothing for a while: what is not done is resumed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from distant_broker import DistantBroker
from files import lines_of, write_lines
from penstock.engine.lease.lease import End
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import GroupOffsets, Transactions
from source_leases import run_lease

BYTE_RATE = 300_000


@pytest.mark.heavy
def test_a_commit_that_is_not_done_is_resumed(
    distant: DistantBroker, over_link: Connection, name: str
) -> None:
    """It takes longer than any single call may, and brokers take records all the while."""
    distant.topics.create(name)
    group = clients.group_metadata(over_link, name)
    producer = Transactions(over_link, name)
    distant.link.rate = BYTE_RATE
    values = [b"%06d" % number + b"x" * 1000 for number in range(14 * BYTE_RATE // 1000)]
    for value in values:
        producer.send(name, value)
    producer.commit([], [GroupOffsets(group, [(name, 0, 1, "")])])
    distant.link.rate = None
    assert [message.value() for message in distant.topics.messages(name)] == values


@pytest.mark.heavy
def test_whoever_has_given_up_is_heard_while_nothing_passes(
    distant: DistantBroker, over_link: Connection, name: str
) -> None:
    distant.topics.create(name)
    producer = Transactions(over_link, name)
    given_up = threading.Event()
    producer.patience = Patience(3600.0, given_up.is_set, given_up.set)
    with distant.link.stalled():
        producer.send(name, b"never taken")
        with pytest.raises(KafkaFault):
            producer.drain()
        with pytest.raises(KafkaFault):
            producer.commit([], [])


@pytest.mark.heavy
def test_a_transaction_that_took_too_long_to_abort_is_not_in_the_way_of_the_next(
    distant: DistantBroker, over_link: Connection, name: str
) -> None:
    distant.topics.create(name)
    producer = Transactions(over_link, name)
    producer.send(name, b"aborted")
    assert producer.raw.flush(20) == 0
    with distant.link.stalled():
        producer.patience = Patience(given_up=lambda: True)
        producer.abort()
    producer.patience = Patience()
    producer.send(name, b"next")
    producer.commit([], [])
    assert distant.topics.values(name) == ["next"]


@pytest.mark.heavy
def test_a_source_lease_on_a_distant_link_that_is_cut_again_and_again_commits(
    distant: DistantBroker, over_link: Connection, name: str, tmp_path: Path
) -> None:
    """Every transaction takes longer than the link is whole for."""
    file = tmp_path / "in.txt"
    write_lines(file, 100_000, 150)
    distant.topics.create(name)
    distant.topics.create(f"{name}-offsets")
    distant.link.delay = 0.1
    with distant.link.cutting(every=1.0):
        report = run_lease(over_link, name, file)
    assert report.end is End.DONE, report.trace
    arrived = distant.topics.values(name)
    assert len(arrived) > 0
    assert arrived == lines_of(file)[: len(arrived)]
    [(_, _, offset)] = report.positions
    assert offset is not None
    assert offset["position"] == 150 * len(arrived)
