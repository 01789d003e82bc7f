"""Rule 10: a lease asks before it begins."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from files import write_lines
from penstock.embedded import EmbeddedBroker
from penstock.engine.carriers import carrying
from penstock.engine.carriers.book import Book
from penstock.engine.carriers.holdings import Holdings
from penstock.engine.carriers.orders import encode_lease
from penstock.engine.lease import producers
from penstock.engine.lease.lease import End, Lease, Limits
from penstock.kafka import transactions
from penstock.kafka.clients import Connection
from penstock.kafka.patience import Patience
from penstock.kafka.transactions import Transactions
from source_leases import lease_of, run_lease
from topics import Topics
from waiting import eventually


class LateProducer:
    """Holds up the first lease just before it initialises its producer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.due, self.held_up = threading.Event(), threading.Event()
        self._acquire = producers.acquire
        monkeypatch.setattr(producers, "acquire", self)

    def __call__(self, lease: Lease, patience: Patience) -> Transactions:
        if not self.held_up.is_set():
            self.held_up.set()
            assert self.due.wait(60)
        return self._acquire(lease, patience)


def exchange(book: Book, holdings: Holdings) -> None:
    """One state in each direction, as they would travel; what asks may begin."""
    holdings.hear(json.loads(json.dumps(book.state())))
    for lease in book.hear(json.loads(json.dumps(holdings.state()))).asking:
        book.confirm(lease)


def test_a_lease_that_starts_after_it_was_fenced_touches_nothing(
    broker: EmbeddedBroker,
    topics: Topics,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is cut off from its worker, and initialises its producer after its successor's end."""
    connection, file = Connection(broker.bootstrap_servers), tmp_path / "in.txt"
    write_lines(file, 100, 20)
    topics.create(name)
    topics.create(f"{name}-offsets")
    monkeypatch.setattr(carrying, "CONFIRM_SECONDS", 1.0)
    late = LateProducer(monkeypatch)
    book, holdings = Book(), carrying.hold(lambda: None)
    # Long enough that it is not over by the time it begins.
    order = lease_of(connection, name, file, lease_id="late", limits=Limits(lease_seconds=40.0))
    book.give("late", encode_lease(order))
    exchange(book, holdings)
    assert late.held_up.wait(60)
    assert book.revoke("late")
    transactions.fence(connection, [name])
    report = run_lease(connection, name, file, lease_id="next", limits=Limits(lease_seconds=2.0))
    assert report.end is End.DONE, report.trace

    late.due.set()
    eventually(lambda: len(holdings) == 0, within=90, what="the end of the late lease")
    assert topics.values(name) == file.read_text().splitlines()


def test_a_lease_that_is_still_wanted_begins(
    broker: EmbeddedBroker,
    topics: Topics,
    name: str,
    tmp_path: Path,
) -> None:
    connection, file = Connection(broker.bootstrap_servers), tmp_path / "in.txt"
    write_lines(file, 100, 20)
    topics.create(name)
    topics.create(f"{name}-offsets")
    book, news = Book(), threading.Event()
    holdings = carrying.hold(news.set)
    limits = Limits(lease_seconds=2.0)
    book.give("lease", encode_lease(lease_of(connection, name, file, limits=limits)))

    def over() -> bool:
        exchange(book, holdings)
        return not book.leases

    eventually(over, within=60, what="its report")
    assert topics.values(name) == file.read_text().splitlines()
