"""A worker's book of a carrier and the carrier's holdings: whole states, whatever gets lost."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from penstock.engine.carriers.book import Book
from penstock.engine.carriers.holdings import Holdings


class Lease:
    """Remembers what it was told."""

    def __init__(self, lease_id: str) -> None:
        self.lease_id = lease_id
        self.finishing = self.orphaned = False

    def progress(self, number: int) -> dict[str, Any]:
        return {"records": 1}

    def heard(self, number: int) -> None:
        self.answered = number

    def tell_again(self) -> None:
        pass

    def finish(self) -> None:
        self.finishing = True

    def orphan(self) -> None:
        self.orphaned = True


class Pair:
    """Both sides, with a connection that delivers when it is told to."""

    def __init__(self) -> None:
        self.leases: dict[str, Lease] = {}
        self.starts: list[str] = []
        self.book = Book()
        self.holdings = Holdings(self._start, lambda: None)

    def _start(self, lease_id: str, order: dict[str, Any]) -> Lease:
        self.starts.append(lease_id)
        self.leases[lease_id] = Lease(lease_id)
        return self.leases[lease_id]

    def down(self) -> None:
        self.holdings.hear(self.book.state())

    def up(self) -> Any:
        return self.book.hear(self.holdings.state())


def test_a_revoked_lease_is_gone_once_the_carrier_says_so() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    assert pair.book.revoke("l1")
    before = pair.holdings.state()
    assert pair.book.hear(before).gone == (), "it may not have heard of it"
    pair.down()
    assert pair.up().gone == (), "it still runs"
    pair.holdings.report("l1", "orphaned")
    assert pair.up().gone == ("l1",)
    assert pair.up().gone == ()


def test_only_an_order_that_was_never_sent_can_be_withdrawn() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    assert pair.book.withdraw("l1")
    pair.book.give("l2", {})
    pair.down()
    assert not pair.book.withdraw("l2")
    assert pair.starts == ["l2"]


def test_an_order_begins_a_lease_once() -> None:
    pair = Pair()
    assert pair.book.give("l1", {"task": 0})
    pair.down()
    pair.down()
    assert pair.starts == ["l1"]
    assert pair.up().progress == {"l1": {"records": 1}}
    assert pair.book.state()["orders"] == {}


def test_an_order_that_was_not_heard_is_not_lost() -> None:
    pair = Pair()
    pair.up()
    pair.book.give("l1", {})
    pair.book.state()  # gets lost
    assert pair.up().lost == ()
    pair.down()
    assert pair.starts == ["l1"]


def test_an_id_that_was_heard_and_is_not_held_is_lost() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    state = pair.book.state()
    pair.holdings.hear({**state, "orders": {}})
    assert pair.up().lost == ("l1",)
    assert pair.book.leases == []


def test_an_id_that_vanishes_from_a_state_is_lost() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    pair.up()
    state = {"number": 9, "heard": 0, "held": {}, "reports": {}, "asking": []}
    assert pair.book.hear(state).lost == ("l1",)


def test_a_report_is_told_until_it_was_received_and_counts_once() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    pair.holdings.report("l1", "done")
    assert pair.up().reports == {"l1": "done"}
    assert pair.up().reports == {}
    assert not pair.holdings.clean
    pair.down()
    assert pair.holdings.clean


def test_finish_and_revoke_reach_the_lease() -> None:
    pair = Pair()
    for lease in ("l1", "l2"):
        pair.book.give(lease, {})
    pair.down()
    pair.book.finish("l1")
    assert pair.book.revoke("l2")
    pair.down()
    assert pair.leases["l1"].finishing
    assert not pair.leases["l1"].orphaned
    assert pair.leases["l2"].orphaned
    assert not pair.book.revoke("l2")


def test_a_report_of_a_revoked_lease_is_no_news() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    pair.book.revoke("l1")
    pair.holdings.report("l1", "done")
    assert pair.up().reports == {}


@pytest.mark.parametrize("revoked", [False, True])
def test_a_lease_is_confirmed_only_by_an_answer_to_its_question(revoked: bool) -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(pair.holdings.confirm("l1", 20)))
    pair.up()
    stale = pair.book.state()
    if revoked:
        pair.book.revoke("l1")
    thread.start()
    pair.holdings.hear(stale)  # says that it is wanted, but was made before the question
    asked: list[str] = []
    while thread.is_alive():
        for lease in pair.up().asking:
            asked.append(lease)
            pair.book.confirm(lease)
        pair.down()
        thread.join(0.01)
    assert answers == [not revoked]
    assert asked == ([] if revoked else ["l1"])


def test_without_an_answer_there_is_no_confirmation() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    assert not pair.holdings.confirm("l1", 0.01)


def test_that_a_lease_is_wanted_is_no_answer() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    pair.down()
    thread = threading.Thread(target=lambda: answers.append(pair.holdings.confirm("l1", 0.5)))
    answers: list[bool] = []
    thread.start()
    while thread.is_alive():
        pair.up()
        pair.down()
        thread.join(0.01)
    assert answers == [False]


def test_a_carrier_that_is_let_go_is_given_nothing() -> None:
    pair = Pair()
    pair.book.give("l1", {})
    assert not pair.book.end()
    pair.book.revoke("l1")
    assert pair.book.end()
    assert not pair.book.give("l2", {})
    pair.down()
    assert pair.holdings.ending


def test_revoking_all_tells_what_it_had() -> None:
    pair = Pair()
    for lease in ("l1", "l2"):
        pair.book.give(lease, {})
    assert pair.book.revoke_all() == ["l1", "l2"]
    assert not pair.book.give("l3", {})


@pytest.mark.parametrize("seed", range(20))
def test_whatever_gets_lost_each_lease_runs_once_and_is_reported_once(seed: int) -> None:
    rng = random.Random(seed)
    pair = Pair()
    given: list[str] = []
    reported: list[str] = []
    lost: list[str] = []
    for step in range(400):
        if rng.random() < 0.2 and step < 350:
            given.append(f"l{step}")
            pair.book.give(given[-1], {})
        running = [i for i in pair.leases if i in pair.holdings._held]
        if running and rng.random() < 0.3:
            pair.holdings.report(rng.choice(running), "done")
        state = pair.book.state()
        if rng.random() < 0.6:
            pair.holdings.hear(state)
        answer = pair.holdings.state()
        if rng.random() < 0.6:
            news = pair.book.hear(answer)
            reported += news.reports
            lost += news.lost
    for _ in range(3):
        for lease in list(pair.holdings._held):
            pair.holdings.report(lease, "done")
        pair.down()
        reported += pair.up().reports
    assert len(pair.starts) == len(set(pair.starts))
    assert sorted(reported) == sorted(given)
    assert lost == []
