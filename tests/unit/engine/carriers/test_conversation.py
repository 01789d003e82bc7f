"""A carrier's process and its worker's hub, over a real connection; leases are played."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from penstock.engine.carriers.book import News
from penstock.engine.carriers.holdings import Holdings
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.carriers.process import CarrierProcess, Summons
from penstock.engine.lease.heartbeats import Heartbeat
from played_carriers import PlayedCarrier, PlayedLease
from waiting import eventually


class Desk:
    """The worker's side."""

    def __init__(self) -> None:
        self.hub = Hub("127.0.0.1")
        self.reports: dict[str, Any] = {}
        self.lost: list[str] = []
        self.topics: list[str] = []
        self.link = Link(dict, self._note)
        self.hub.expect(self.link)

    def _note(self, _link: Link, news: News) -> None:
        self.reports.update(news.reports)
        self.lost += news.lost
        for told in news.progress.values():
            self.topics += told.get("topics", ())

    def has_topics(self, number: int) -> bool:
        return len(self.topics) == number

    def play(self, **more: Any) -> PlayedCarrier:
        return PlayedCarrier(self.hub, self.link, **more)


class TellingCarrier(PlayedCarrier):
    """Its lease tells what a real one does."""

    def _hold(self, tell: Callable[[], None]) -> Holdings:
        self.heartbeat = Heartbeat(tell=tell)
        return super()._hold(tell)

    def _start(self, lease: str, order: dict[str, Any]) -> PlayedLease:
        played = super()._start(lease, order)
        played.progress = self.heartbeat.tell  # type: ignore[method-assign]  # the real one
        return played


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.hub.close()


def test_a_lease_is_handed_over_and_reported(desk: Desk) -> None:
    carrier = desk.play()
    desk.link.book.give("l1", {})
    eventually(lambda: len(carrier.holdings) == 1)
    desk.link.book.finish("l1")
    desk.link.tell()
    eventually(lambda: desk.reports == {"l1": "finished"})
    assert desk.link.book.end()
    desk.link.tell()
    eventually(lambda: carrier.ended)
    assert not carrier.left.is_set()


def test_a_broken_connection_is_no_death(desk: Desk) -> None:
    carrier = desk.play()
    desk.link.book.give("l1", {})
    eventually(lambda: len(carrier.holdings) == 1)
    channel = desk.link._channel
    assert channel is not None
    channel.close()
    eventually(lambda: desk.link.connected and desk.link._channel is not channel)
    desk.link.book.finish("l1")
    desk.link.tell()
    eventually(lambda: desk.reports == {"l1": "finished"})
    assert desk.lost == []


def test_a_new_topic_reaches_the_worker_at_once_and_not_with_the_next_beat(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beats would come once in an hour: what arrives has been sent for the topic alone."""
    monkeypatch.setattr("penstock.engine.carriers.process.BEAT_SECONDS", 3600.0)
    monkeypatch.setattr("penstock.engine.lease.heartbeats.TELL_SECONDS", 3600.0)
    carrier = TellingCarrier(desk.hub, desk.link)
    desk.link.book.give("l1", {})
    desk.link.tell()
    eventually(lambda: len(carrier.holdings) == 1)
    for number, topic in enumerate(["orders", "returns"], start=1):
        carrier.heartbeat.progress.topics.note([topic])
        eventually(partial(desk.has_topics, number), what=topic, within=20)
    assert desk.topics == ["orders", "returns"]


def test_a_worker_that_is_gone_orphans_every_lease(desk: Desk) -> None:
    carrier = desk.play(unanswered=1.0)
    desk.link.book.give("l1", {})
    eventually(lambda: len(carrier.holdings) == 1)
    desk.hub.close()
    eventually(lambda: carrier.ended)
    assert not carrier.left.is_set()
    assert carrier.holdings._reports == {"l1": "orphaned"}


def test_a_lease_that_does_not_end_takes_the_process_with_it(desk: Desk) -> None:
    carrier = desk.play(unanswered=1.0)
    desk.link.book.give("l1", {"stuck": True})
    eventually(lambda: len(carrier.holdings) == 1)
    desk.hub.close()
    eventually(carrier.left.is_set)


def test_a_process_beyond_its_memory_ends_itself_and_says_why(desk: Desk) -> None:
    left, most = threading.Event(), 100 << 20
    summons = Summons(desk.hub.address, desk.link.carrier, desk.link.secret, most_bytes=most)
    process = CarrierProcess(
        summons,
        lambda tell: Holdings(lambda *_: pytest.fail("no lease"), tell),
        memory=lambda: most + (1 if desk.link.connected else 0),
        leave=lambda _code: left.set(),
    )
    threading.Thread(target=process.run, daemon=True).start()
    eventually(left.is_set)
    eventually(lambda: desk.link.last_words == "it used more than 100 MB of memory")


def test_a_second_process_ends_at_once_and_the_first_goes_on(desk: Desk) -> None:
    first = desk.play()
    desk.link.book.give("l1", {})
    eventually(lambda: len(first.holdings) == 1)
    second = desk.play()
    eventually(lambda: second.ended)
    assert len(first.holdings) == 1
    assert not first.ended


def test_one_with_an_old_secret_ends_by_itself(desk: Desk) -> None:
    stranger = desk.play(secret="of an earlier worker")
    eventually(lambda: stranger.ended)
    assert not desk.link.bound


def test_a_caller_that_says_nothing_does_not_keep_carriers_out(desk: Desk) -> None:
    address = (desk.hub.address.host, desk.hub.address.port)
    silent = [socket.create_connection(address) for _ in range(10)]
    carrier = desk.play()
    desk.link.book.give("l1", {})
    eventually(lambda: len(carrier.holdings) == 1)
    for connection in silent:
        connection.close()
