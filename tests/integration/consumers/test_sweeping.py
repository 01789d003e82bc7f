"""The worker that leads forgets what has expired."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice

import pytest

from penstock.consumers.registry.entries import RegistryKey, Snapshot, now
from penstock.consumers.registry.registry import Registry
from penstock.consumers.sweeper import Sweeper
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from penstock.runtime.worker import Worker
from waiting import eventually

EVERY = 0.2


@pytest.fixture
def leads() -> threading.Event:
    """Whether the run's worker may sweep, as far as the test is concerned."""
    return threading.Event()


@pytest.fixture
def asked(worker: Worker, connection: Connection, leads: threading.Event) -> Iterator[list[bool]]:
    """A sweeper as the run's worker has one, in more of a hurry: what it heard about leading."""
    heard: list[bool] = []

    def due() -> bool:
        heard.append(leads.is_set() and worker.herder.leads())
        return heard[-1]

    sweeper = Sweeper(lambda: connection, due, EVERY)
    sweeper.start()
    yield heard
    sweeper.stop()


def test_only_what_has_expired_and_only_by_the_leader(
    asked: list[bool], leads: threading.Event, connection: Connection, consumer, topic: str
) -> None:
    admin = clients.admin(connection)
    registry = Registry(connection, admin)
    gone, stays, kept = (f"{name}-of-{topic}" for name in ("gone", "stays", "kept"))
    with consumer(name=stays, ttl=0.6) as connected, consumer(name=kept, ttl=600) as other:
        list(islice(connected, 2))
        list(islice(other, 2))
        with consumer(name=gone, ttl=0.1) as leaving:
            list(islice(leaving, 2))
        place = RegistryKey(gone, topic, 0)
        eventually(lambda: registry.read().expired(place, now()), what="its end")
        looked = len(asked)
        eventually(lambda: len(asked) > looked + 2, what="one that does not lead")
        assert place in registry.read().entries, "who does not lead sweeps nothing"

        leads.set()
        eventually(lambda: _is_forgotten(registry.read(), place), what="a sweep")
        assert groups.committed(admin, gone) == {}
        looked = len(asked)
        eventually(lambda: len(asked) > looked + 3, what="more sweeps")
        left = registry.read()
        for name in (stays, kept):
            assert RegistryKey(name, topic, 0) in left.entries
            assert name in left.ttls
            assert groups.committed(admin, name) != {}
        connected.flush()


def _is_forgotten(snapshot: Snapshot, place: RegistryKey) -> bool:
    """An entry goes before what is known of its name alone."""
    return place not in snapshot.entries and place.name not in snapshot.ttls
