"""All named consumers: list, delete, reset, how long they are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from penstock.consumers.errors import NameHeld, NoSuchConsumer
from penstock.consumers.holding.hold import Hold
from penstock.consumers.holding.rivals import members_of, rivals_in
from penstock.consumers.offset import Offset
from penstock.consumers.options import Options
from penstock.consumers.reading.starting import Ranges
from penstock.consumers.registry.entries import Entry, RegistryKey, Snapshot, TopicDefaults, now
from penstock.consumers.registry.registry import Registry
from penstock.consumers.slots import Slot
from penstock.consumers.topic import Topic, find_topic
from penstock.kafka import clients, groups, topics
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

HIDDEN = "hidden"
Trouble = Callable[[str], object]
"""Called with what could not be done, once for each name."""


@dataclass(frozen=True)
class Listed:
    """One partition that a named consumer reads."""

    key: RegistryKey
    offset: int
    """The one to be read next."""
    lag: int
    """How many offsets lie before the end."""
    seen: int
    """When it was last heard of, in milliseconds since 1970."""
    expires: int | None
    """When it is forgotten if nothing is heard of it until then."""

    def facts(self) -> dict[str, Any]:
        """As commands and the REST API tell it, in JSON."""
        return {
            "consumer": self.key.name,
            "topic": self.key.topic,
            "partition": self.key.partition,
            "offset": self.offset,
            "lag": self.lag,
            "seen_ms": self.seen,
            "expires_ms": self.expires,
        }


class Directory:
    """Of one cluster. Thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._admin = clients.admin(connection)
        self._registry = Registry(connection, self._admin)

    def listed(self) -> list[Listed]:
        """Every consumer that is kept, in the order of names, topics and partitions."""
        snapshot = self._registry.read()
        kept = self._kept(snapshot)
        ends = topics.ends(self._admin, {(p.topic, p.partition) for p in kept}, committed=True)
        return [
            Listed(
                key,
                entry.offset,
                max(0, ends.get((key.topic, key.partition), 0) - entry.offset),
                entry.seen,
                snapshot.expires(key),
            )
            for key, entry in sorted(kept.items())
        ]

    def of_topic(self, topic: str) -> list[RegistryKey]:
        """The consumers of a topic."""
        return sorted(key for key in self._kept(self._registry.read()) if key.topic == topic)

    def names(self) -> list[str]:
        """The names that are kept, without looking whether their topics still exist."""
        snapshot, at = self._registry.read(), now()
        return sorted({key.name for key in snapshot.entries if not snapshot.expired(key, at)})

    def stands(self, name: str, topic: str | None = None) -> dict[RegistryKey, int]:
        """Where a name is to go on, as the registry has it, expired or not."""
        found = self._registry.read().of(name, topic)
        return {key: entry.offset for key, entry in sorted(found.items())}

    def delete(
        self,
        name: str,
        *,
        topic: str | None = None,
        partition: int | None = None,
        force: bool = False,
    ) -> list[RegistryKey]:
        """Forget a consumer, or some of it; what was forgotten. NameHeld while a process reads
        under the name, unless ``force``\\ d, which fences them."""
        snapshot = self._registry.read()
        keys = [
            key for key in sorted(snapshot.of(name, topic)) if partition in (None, key.partition)
        ]
        self._refuse_held(keys, snapshot, force=force)
        self._forget(keys, snapshot)
        return keys

    def reset(
        self,
        name: str,
        topic: str,
        offset: Offset,
        *,
        partitions: Iterable[int] = (),
        take_over: bool = False,
    ) -> dict[RegistryKey, int]:
        """Have a consumer go on elsewhere; it need not exist yet. Where it will go on.

        InvalidConsumer if the name cannot be one.
        """
        slot = Options(topic, name, frozenset(partitions)).slot
        found = find_topic(self._admin, topic, slot.partitions)
        self._registry.ensure()
        offsets = Ranges(self._connection, self._admin, found).offsets(offset, found.partitions)
        hold = Hold(self._connection, self._admin, self._registry, name, slot)
        hold.take(take_over=take_over)
        try:
            hold.commit({(topic, p): at for p, at in offsets.items()})
            moved = {RegistryKey(name, topic, p): at for p, at in sorted(offsets.items())}
            self._registry.write(
                {p: Entry(o, found.id, now(), partitions=found.count) for p, o in moved.items()}
            )
            self._registry.flush()
        finally:
            hold.release(leave=True)
        return moved

    def keep_for(self, name: str, ttl_ms: int | None) -> None:
        """Set a consumer's TTL; None leaves it to its topics."""
        snapshot = self._registry.read()
        known = snapshot.of(name)
        expired = self._expired(known, snapshot)
        if len(expired) == len(known):
            raise NoSuchConsumer(
                f'there is no consumer "{name}". `penstock consumer list` lists them.'
            )
        self._forget(expired, snapshot)
        self._registry.write_ttl(name, ttl_ms)
        self._registry.flush()

    def keep_consumers_of(self, topic: str, ttl_ms: int | None) -> None:
        """Set the TTL of a topic's consumers that have none of their own."""
        found = find_topic(self._admin, topic)
        self._registry.ensure()
        self._forget_expired_of(found)
        defaults = None if ttl_ms is None else TopicDefaults(found.id, ttl_ms)
        self._registry.write_topic(topic, defaults)
        self._registry.flush()

    def _forget_expired_of(self, topic: Topic) -> None:
        """Another TTL of their topic would bring them back with their old places."""
        snapshot = self._registry.read()
        theirs = [
            key
            for key, entry in snapshot.entries.items()
            if key.topic == topic.name
            and entry.topic_id == topic.id
            and key.name not in snapshot.ttls
        ]
        self._forget(self._expired(theirs, snapshot), snapshot)

    def _expired(self, keys: Iterable[RegistryKey], snapshot: Snapshot) -> list[RegistryKey]:
        """Those that have expired, and that are not being read now."""
        at = now()
        return self._free([p for p in keys if snapshot.expired(p, at)], snapshot)

    def ttl_of_topic(self, topic: str, topic_id: str) -> int | None:
        """How long consumers of a topic are kept that have no TTL of their own."""
        return self._registry.read().ttl(RegistryKey("", topic, 0), topic_id)

    def forget_topic(self, topic: str) -> list[RegistryKey]:
        """Forget the consumers of a topic that was deleted; which they were."""
        snapshot = self._registry.read()
        keys = sorted(key for key in snapshot.entries if key.topic == topic)
        for name, of_name in groupby(keys, key=_name):
            self._forget_gone(name, list(of_name), snapshot)
        if topic in snapshot.topics:
            self._registry.write_topic(topic, None)
        self._registry.flush()
        return keys

    def _forget_gone(self, name: str, keys: list[RegistryKey], snapshot: Snapshot) -> None:
        try:
            self._forget_name(name, keys, snapshot)
        except (NameHeld, AccessDenied, groups.GroupInUse, ConfigError):
            # Who reads under the name hears of it by reading, and the brokers have forgotten the
            # offsets with the topic.
            self._forget_in_registry(name, keys, snapshot)

    def sweep(self, trouble: Trouble = log.warning) -> list[RegistryKey]:
        """Forget whatever has expired, or whose topic is gone, and is not being read; which.

        A name that cannot be forgotten is ``trouble``, and keeps none of the others.
        """
        snapshot = self._registry.read()
        swept: list[RegistryKey] = []
        for _, gone in groupby(self._gone(snapshot), key=_name):
            try:
                free = self._free(gone, snapshot)
                self._forget(free, snapshot)
                swept += free
            except (NameHeld, KafkaFault) as error:
                trouble(str(error))
        return swept

    def _kept(self, snapshot: Snapshot) -> dict[RegistryKey, Entry]:
        """What has not expired, of topics that are the ones they were, and that we may see."""
        at, ids = now(), self._topic_ids(snapshot)
        return {
            key: entry
            for key, entry in snapshot.entries.items()
            if ids.get(key.topic) == entry.topic_id and not snapshot.expired(key, at)
        }

    def _gone(self, snapshot: Snapshot) -> list[RegistryKey]:
        """What has expired, or is of topics that are no more. Of those that we may not see we do
        not know."""
        at, ids = now(), self._topic_ids(snapshot)
        return sorted(
            key
            for key, entry in snapshot.entries.items()
            if snapshot.expired(key, at) or ids.get(key.topic) not in (entry.topic_id, HIDDEN)
        )

    def _topic_ids(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Of the topics that exist; HIDDEN of those that an ACL keeps from us."""
        wanted = {key.topic for key in snapshot.entries}
        return topics.ids(self._admin, wanted, hidden=HIDDEN)

    def _free(self, keys: Iterable[RegistryKey], snapshot: Snapshot) -> list[RegistryKey]:
        """Those that are not being read now; of each name the group is asked once."""
        free: list[RegistryKey] = []
        for _, of_name in groupby(sorted(keys), key=_name):
            known = list(of_name)
            try:
                alive = set(self._alive(known, snapshot))
            except NameHeld:  # by members that share it
                continue
            free += [key for key in known if key not in alive]
        return free

    def _alive(self, keys: Iterable[RegistryKey], snapshot: Snapshot) -> list[RegistryKey]:
        """Those that are being read now."""
        alive = []
        for name, of_name in groupby(sorted(keys), key=_name):
            rivals = rivals_in(snapshot, name, members_of(self._admin, name))
            held = [rival.slot for rival in rivals if not rival.gone()]
            alive += [p for p in of_name if any(_holds(slot, p) for slot in held)]
        return alive

    def _refuse_held(self, keys: list[RegistryKey], snapshot: Snapshot, *, force: bool) -> None:
        held = [] if force else self._alive(keys, snapshot)
        if held:
            raise NameHeld(
                f'consumer "{held[0].name}" is reading {held[0].topic}/{held[0].partition} at this '
                "moment. Stop it first, or say --force, which ends its right to commit."
            )

    def _forget(self, keys: Iterable[RegistryKey], snapshot: Snapshot) -> None:
        for name, found in groupby(sorted(keys), key=_name):
            self._forget_name(name, list(found), snapshot)
        self._registry.flush()

    def _forget_name(self, name: str, keys: list[RegistryKey], snapshot: Snapshot) -> None:
        """The group first: what is only in the registry can be forgotten again."""
        self._connection.kafka_python_settings()  # refuses what is asked, before anything is done
        held = members_of(self._admin, name)
        leaving = [str(slot) for slot in held if any(_holds(slot, p) for p in keys)]
        if leaving:
            self._disown(keys, snapshot)
            groups.remove_members(self._connection, name, dict.fromkeys(leaving))
            self._disown(keys, snapshot)  # it may have stored something in between
        groups.forget(self._connection, name, [(p.topic, p.partition) for p in keys])
        self._forget_in_registry(name, keys, snapshot)

    def _forget_in_registry(self, name: str, keys: list[RegistryKey], snapshot: Snapshot) -> None:
        self._registry.write(dict.fromkeys(keys))
        if len(snapshot.of(name)) == len(keys):
            self._registry.write_ttl(name, None)

    def _disown(self, keys: list[RegistryKey], snapshot: Snapshot) -> None:
        """First: a member that is removed from the group comes back if no other used the name."""
        known = {key: snapshot.entries[key] for key in keys}
        self._registry.write({p: replace(entry, holder=None) for p, entry in known.items()})
        self._registry.flush()


def _name(key: RegistryKey) -> str:
    return key.name


def _holds(slot: Slot, key: RegistryKey) -> bool:
    return slot.topic == key.topic and slot.covers(key.partition)
