"""What is stored of a place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.holding.sharing import SharedReading
from penstock.consumers.options import Options
from penstock.consumers.registry.entries import Entry, RegistryKey
from penstock.consumers.registry.holder import Holder
from penstock.consumers.registry.registry import Registry
from penstock.consumers.topic import Topic
from penstock.kafka.clients import Connection
from penstock.kafka.topics import PartitionId

CONNECTION = Connection("unasked:9092")
ADMIN: Any = None
OPTIONS = Options("orders", "c1", share=True)


class Half:
    """A right that goes for partition 0 alone."""

    holder = Holder.here()
    fenced = lost = False

    def commit(self, places: Mapping[PartitionId, int]) -> Mapping[PartitionId, int]:
        return {position: place for position, place in places.items() if position[1] == 0}

    def regain(self, stored: object) -> None: ...

    def release(self, *, leave: bool = False) -> None: ...


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[RegistryKey, Entry]:
    """What the registry was given."""
    found: dict[RegistryKey, Entry] = {}
    monkeypatch.setattr(Registry, "ensure", lambda _: None)
    monkeypatch.setattr(Registry, "write", lambda _, entries: found.update(entries))
    return found


def test_what_is_not_committed_is_not_registered_and_tried_again(
    written: dict[RegistryKey, Entry],
) -> None:
    keeper = Keeper(OPTIONS, CONNECTION, ADMIN, Topic("orders", "id", frozenset({0, 1}), 2))
    keeper.share(Half())
    keeper.store({0: 5, 1: 6})
    assert set(written) == {RegistryKey("c1", "orders", 0)}
    written.clear()
    keeper.share(Whole())
    keeper.store({0: 5, 1: 6})
    assert set(written) == {RegistryKey("c1", "orders", 1)}


class Whole(Half):
    """A right that goes for all."""

    def commit(self, places: Mapping[PartitionId, int]) -> Mapping[PartitionId, int]:
        return places


def test_who_shares_commits_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.consumers.holding.sharing._refuse_held", lambda *_: None)
    nothing: Any = lambda *_, **__: {}  # noqa: E731 (stands for several callbacks)
    reading = SharedReading(
        CONNECTION,
        ADMIN,
        OPTIONS,
        on_gained=nothing,
        on_lost=nothing,
        on_failed=nothing,
        when_gone=nothing,
    )
    try:
        assert reading.commit({("orders", 0): 5}) == {}
    finally:
        reading.close()
