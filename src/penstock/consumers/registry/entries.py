"""What is kept about named consumers beside their group's offsets, and how it is written."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from penstock.consumers.registry.holder import Holder
from penstock.kafka.json_forms import dump

CONSUMER, TTL, TOPIC = "consumer", "ttl", "topic"


class RegistryKey(NamedTuple):
    """One partition of one topic, read under one name."""

    name: str
    topic: str
    partition: int


def now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


@dataclass(frozen=True)
class Entry:
    """How far a name has come in a partition, and when it was last heard of."""

    offset: int
    topic_id: str
    seen: int
    every_ms: int = 0
    """How often its holder says at least that it is still there."""
    holder: Holder | None = None
    partitions: int = 0
    """How many the topic had then."""

    def expires(self, ttl_ms: int) -> int:
        """When it is forgotten if nothing is heard of it, in milliseconds since 1970."""
        awaited = self.holder is not None and not self.holder.released
        return self.seen + (max(ttl_ms, 2 * self.every_ms) if awaited else ttl_ms)


@dataclass(frozen=True)
class TopicDefaults:
    """What consumers of a topic go by that have nothing of their own."""

    topic_id: str
    ttl_ms: int | None


def consumer_key(key: RegistryKey) -> bytes:
    """The key of an entry."""
    return dump([CONSUMER, *key])


def ttl_key(name: str) -> bytes:
    """The key of a consumer's own TTL."""
    return dump([TTL, name])


def topic_key(topic: str) -> bytes:
    """The key of a topic's defaults."""
    return dump([TOPIC, topic])


def entry_value(entry: Entry) -> bytes:
    """What the topic says of a consumer."""
    body: dict[str, Any] = {
        "offset": entry.offset,
        "topic.id": entry.topic_id,
        "seen": entry.seen,
        "every.ms": entry.every_ms,
        "partitions": entry.partitions,
    }
    if entry.holder is not None:
        body["holder"] = vars(entry.holder)
    return dump(body)


def ttl_value(ttl_ms: int) -> bytes:
    """What the topic says of a consumer's TTL."""
    return dump({"ttl.ms": ttl_ms})


def defaults_value(defaults: TopicDefaults) -> bytes:
    """What the topic says of a topic."""
    return dump({"topic.id": defaults.topic_id, "ttl.ms": defaults.ttl_ms})


class Snapshot:
    """All entries, as a reader of the topic has found them."""

    def __init__(self) -> None:
        self.entries: dict[RegistryKey, Entry] = {}
        self.ttls: dict[str, int] = {}
        self.topics: dict[str, TopicDefaults] = {}

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """One record of the topic; what is of another kind is passed over."""
        body = _parsed(value)
        match _parsed(key):
            case [kind, str(name), str(topic), int(partition)] if kind == CONSUMER:
                _put(self.entries, RegistryKey(name, topic, partition), body and _entry(body))
            case [kind, str(name)] if kind == TTL:
                _put(self.ttls, name, body and int(body["ttl.ms"]))
            case [kind, str(topic)] if kind == TOPIC:
                _put(self.topics, topic, body and TopicDefaults(body["topic.id"], body["ttl.ms"]))

    def copy(self) -> Snapshot:
        """One that stays as this is now."""
        found = Snapshot()
        found.entries, found.ttls = dict(self.entries), dict(self.ttls)
        found.topics = dict(self.topics)
        return found

    def of(self, name: str, topic: str | None = None) -> dict[RegistryKey, Entry]:
        """The entries of a name."""
        found = self.entries.items()
        return {p: e for p, e in found if p.name == name and topic in (None, p.topic)}

    def ttl(self, key: RegistryKey, topic_id: str) -> int | None:
        """How long a consumer of the topic that has this id is kept: its own comes first."""
        own = self.ttls.get(key.name)
        if own is not None:
            return own
        defaults = self.topics.get(key.topic)
        return defaults.ttl_ms if defaults and defaults.topic_id == topic_id else None

    def expires(self, key: RegistryKey) -> int | None:
        """When a consumer is forgotten if nothing is heard of it; None for never."""
        entry = self.entries[key]
        ttl = self.ttl(key, entry.topic_id)
        return None if ttl is None else entry.expires(ttl)

    def expired(self, key: RegistryKey, at: int) -> bool:
        """Whether the consumer has not been heard of for longer than it was to be kept."""
        expires = self.expires(key)
        return expires is not None and expires < at


Key = TypeVar("Key")
Value = TypeVar("Value")


def _put(table: dict[Key, Value], key: Key, value: Value | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _entry(body: dict[str, Any]) -> Entry:
    holder = body.get("holder")
    return Entry(
        body["offset"],
        body["topic.id"],
        body["seen"],
        body.get("every.ms", 0),
        Holder(**holder) if holder else None,
        body.get("partitions", 0),
    )


def _parsed(value: bytes | None) -> Any:
    try:
        return None if value is None else json.loads(value)
    except ValueError:
        return None
