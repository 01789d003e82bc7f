"""What is forgotten of named consumers, and what is not, without a broker."""

from __future__ import annotations

from collections.abc import Mapping
from unittest.mock import MagicMock, Mock

import pytest
from confluent_kafka import KafkaError

from penstock.consumers import directory as room
from penstock.consumers import topics_admin
from penstock.consumers.directory import Directory
from penstock.consumers.errors import NameHeld, NoSuchConsumer
from penstock.consumers.registry.entries import Entry, RegistryKey, Snapshot, TopicDefaults, now
from penstock.consumers.slots import Slot
from penstock.consumers.topic import Topic
from penstock.consumers.topics_admin import TopicsAdmin
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable
from penstock.kafka.groups import GroupInUse
from penstock.sdk.errors import ConfigError

TTL = 60_000
DENIED = AccessDenied("use group", KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED))


class FakeRegistry:
    """A registry in memory."""

    def __init__(self, *_: object) -> None:
        self.kept = Snapshot()
        self.refuses: Exception | None = None

    def ensure(self) -> None:
        pass

    def read(self) -> Snapshot:
        return self.kept.copy()

    def write(self, entries: Mapping[RegistryKey, Entry | None]) -> None:
        for place, entry in entries.items():
            if entry is None:
                self.kept.entries.pop(place, None)
            else:
                self.kept.entries[place] = entry

    def write_ttl(self, name: str, ttl_ms: int | None) -> None:
        self.kept.ttls.pop(name, None)
        if ttl_ms is not None:
            self.kept.ttls[name] = ttl_ms

    def write_topic(self, topic: str, defaults: TopicDefaults | None) -> None:
        self.kept.topics.pop(topic, None)
        if defaults is not None:
            self.kept.topics[topic] = defaults

    def flush(self) -> None:
        if self.refuses is not None:
            raise self.refuses


class World:
    """A topic ``t`` with the id ``t-1``, and groups that are as a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.members: dict[str, Exception | dict[Slot, str]] = {}
        self.asked: list[str] = []
        self.forgotten: list[tuple[str, list[tuple[str, int]]]] = []
        self.refused: dict[str, Exception] = {}
        self.ids = {"t": "t-1"}
        monkeypatch.setattr(room, "Registry", FakeRegistry)
        monkeypatch.setattr(clients, "admin", MagicMock())
        monkeypatch.setattr(room, "members_of", self._members_of)
        monkeypatch.setattr(groups, "forget", self._forget)
        monkeypatch.setattr(Directory, "_topic_ids", lambda *_: self.ids)
        found = Topic("t", "t-1", frozenset({0}), 1)
        for module in (room, topics_admin):
            monkeypatch.setattr(module, "find_topic", lambda *_: found)
        self.directory = Directory(Connection("unasked:9092"))
        registry = self.directory._registry
        assert isinstance(registry, FakeRegistry)
        self.registry = registry

    def _members_of(self, _: object, name: str) -> dict[Slot, str]:
        self.asked.append(name)
        found = self.members.get(name, {})
        if isinstance(found, Exception):
            raise found
        return found

    def _forget(self, _: object, name: str, partitions: list[tuple[str, int]]) -> None:
        if name in self.refused:
            raise self.refused[name]
        self.forgotten.append((name, partitions))

    def put(self, name: str, partition: int = 0, *, expired: bool = False) -> RegistryKey:
        place = RegistryKey(name, "t", partition)
        seen = now() - (10 * TTL if expired else 0)
        self.registry.kept.entries[place] = Entry(7, "t-1", seen)
        return place

    @property
    def left(self) -> set[RegistryKey]:
        return set(self.registry.kept.entries)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_sweep_goes_on_after_a_name_that_cannot_be_forgotten(world: World) -> None:
    for name in "abcdef":
        world.registry.kept.ttls[name] = TTL
        world.put(name, expired=True)
    world.members["b"] = DENIED
    world.refused |= {"c": BrokerUnavailable("no answer"), "d": GroupInUse("in use")}
    world.members["e"] = NameHeld("shared")
    told: list[str] = []
    swept = world.directory.sweep(told.append)
    assert [place.name for place in swept] == ["a", "f"]
    assert {place.name for place in world.left} == {"b", "c", "d", "e"}
    assert told == [str(DENIED), "no answer", "in use"]


def test_a_sweep_asks_a_group_once_not_for_each_partition(world: World) -> None:
    world.registry.kept.ttls["many"] = TTL
    places = [world.put("many", partition, expired=True) for partition in range(50)]
    world.members["many"] = {Slot("t", frozenset(range(50))): "member-1"}
    assert world.directory.sweep() == []
    assert world.asked == ["many"]
    assert world.left == set(places)


def test_settings_that_kafka_python_cannot_use_are_refused_before_anything_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = world.put("c")
    refuse = Mock(side_effect=ConfigError("ssl.keystore.location"))
    monkeypatch.setattr(Connection, "kafka_python_settings", refuse)
    with pytest.raises(ConfigError, match=r"ssl\.keystore\.location"):
        world.directory.delete("c", force=True)
    assert world.left == {place}
    assert world.asked == []


@pytest.mark.parametrize(
    "refusal", [DENIED, GroupInUse("in use"), NameHeld("shared"), ConfigError("no such setting")]
)
def test_of_a_deleted_topic_everything_is_forgotten_whatever_its_groups_say(
    world: World, refusal: Exception
) -> None:
    gone = [world.put("a"), world.put("b")]
    world.registry.kept.ttls |= {"a": TTL, "b": TTL}
    world.refused["a"] = refusal
    assert world.directory.forget_topic("t") == gone
    assert world.left == set()
    assert world.registry.kept.ttls == {}


def test_a_topic_is_deleted_though_its_consumers_cannot_be_forgotten(world: World) -> None:
    admin = TopicsAdmin(Connection("unasked:9092"))
    admin.directory = world.directory
    world.put("a")
    world.registry.refuses = BrokerUnavailable("not written")
    told: list[str] = []
    assert admin.delete("t", trouble=told.append) == []
    assert told == ['topic "t" is deleted; its consumers were not forgotten yet: not written']


def test_a_consumer_that_has_expired_cannot_be_kept_any_longer(world: World) -> None:
    world.registry.kept.ttls["c"] = TTL
    place = world.put("c", expired=True)
    with pytest.raises(NoSuchConsumer, match='there is no consumer "c"'):
        world.directory.keep_for("c", None)
    assert world.registry.kept.ttls == {"c": TTL}
    assert world.registry.kept.expired(place, now())


def test_what_has_expired_of_a_consumer_is_forgotten_when_its_ttl_changes(world: World) -> None:
    world.registry.kept.ttls["c"] = TTL
    world.put("c", 0, expired=True)
    kept = world.put("c", 1)
    world.directory.keep_for("c", None)
    assert world.left == {kept}
    assert world.forgotten == [("c", [("t", 0)])]
    assert world.registry.kept.ttls == {}


def test_what_somebody_reads_has_not_gone(world: World) -> None:
    world.registry.kept.ttls["c"] = TTL
    place = world.put("c", expired=True)
    world.members["c"] = {Slot("t"): "member-1"}
    world.directory.keep_for("c", 2 * TTL)
    assert world.left == {place}
    assert world.registry.kept.ttls == {"c": 2 * TTL}


def test_what_has_expired_is_forgotten_when_the_ttl_of_its_topic_changes(world: World) -> None:
    world.registry.kept.topics["t"] = TopicDefaults("t-1", TTL)
    world.put("gone", expired=True)
    kept = world.put("kept")
    world.directory.keep_consumers_of("t", None)
    assert world.left == {kept}
    assert world.forgotten == [("gone", [("t", 0)])]
    assert world.registry.kept.topics == {}


def test_nothing_is_changed_where_it_cannot_be_forgotten_first(world: World) -> None:
    world.registry.kept.topics["t"] = TopicDefaults("t-1", TTL)
    world.put("gone", expired=True)
    world.refused["gone"] = DENIED
    with pytest.raises(AccessDenied):
        world.directory.keep_consumers_of("t", None)
    assert world.registry.kept.topics == {"t": TopicDefaults("t-1", TTL)}
