"""Named consumers and topics as the REST API answers about them: JSON, and Connect's statuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from penstock.consumers import Offset
from penstock.consumers.errors import (
    ConsumerError,
    InternalTopic,
    InvalidConsumer,
    NameHeld,
    NoSuchConsumer,
    NoSuchTopic,
    OffsetGone,
    TopicExists,
)
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.times import parse_time, parse_ttl
from penstock.consumers.topics_admin import Described, TopicsAdmin
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.groups import GroupInUse
from penstock.rest.access.audit import few, telling
from penstock.rest.http.requests import MAX_INT
from penstock.runtime.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    NotFound,
    RequestError,
)
from penstock.sdk.errors import ConfigError

Json = dict[str, Any]
OFFSETS = {"beginning": Offset.from_beginning, "end": Offset.from_end, "offset": Offset.absolute}
_STATUSES: tuple[tuple[type[Exception], type[RequestError]], ...] = (
    (NoSuchTopic, NotFound),
    (NoSuchConsumer, NotFound),
    (NameHeld, Conflict),
    (TopicExists, Conflict),
    (InternalTopic, Forbidden),
    (InvalidConsumer, BadRequest),
    (OffsetGone, BadRequest),
    (ConsumerError, BadRequest),
    (AccessDenied, Forbidden),
    (GroupInUse, Conflict),
    (KafkaFault, InternalError),
    (ConfigError, InternalError),
)


class ConsumersApi:
    """What the routes call. Methods block, answer with what JSON can hold, raise RequestError."""

    def __init__(
        self, connection: Callable[[], Connection], internal: Callable[[], Collection[str]] = set
    ) -> None:
        """Both are asked with the first request: before, there may be no broker yet.

        ``internal`` are the worker's own topics.
        """
        self._connection = connection
        self._internal = internal
        self._made: TopicsAdmin | None = None

    @property
    def _topics(self) -> TopicsAdmin:
        self._made = self._made or TopicsAdmin(self._connection(), self._internal())
        return self._made

    def consumers(self) -> list[Json]:
        """Every partition of every consumer."""
        with _translated():
            return [each.facts() for each in self._topics.directory.listed()]

    def delete_consumer(
        self, name: str, topic: str | None, partition: int | None, *, force: bool
    ) -> list[Json]:
        """Forget a consumer, or some of it; what was forgotten."""
        asked = {"topic": topic, "partition": partition, "force": force}
        with telling("delete consumer", None, consumer=name, **asked) as told, _translated():
            old = self._topics.directory.stands(name, topic)
            found = self._topics.directory.delete(
                name, topic=topic, partition=partition, force=force
            )
            if not found:
                raise NotFound(f'there is no consumer "{name}" to delete with these options')
            told["old"] = _few(old, found)
            return [_as_json(key) for key in found]

    def keep_consumer(self, name: str, body: bytes) -> None:
        """Set a consumer's TTL."""
        ttl = _new_ttl(body, "ttl")
        with telling("update consumer", None, consumer=name, ttl_ms=ttl), _translated():
            self._topics.directory.keep_for(name, ttl)

    def reset_consumer(self, name: str, body: bytes) -> list[Json]:
        """Have a consumer go on elsewhere; where it will."""
        asked = _object(body, "topic", "partitions", "to", "take_over")
        topic, to = _text(asked, "topic"), _offset(asked.get("to"))
        partitions = _numbers(asked.get("partitions"))
        with telling("reset consumer", None, consumer=name, **asked) as told, _translated():
            old = self._topics.directory.stands(name, topic)
            moved = self._topics.directory.reset(
                name, topic, to, partitions=partitions, take_over=asked.get("take_over") is True
            )
            told |= {"old": _few(old, moved), "new": _few(moved, moved)}
        return [{**_as_json(key), "offset": offset} for key, offset in moved.items()]

    def topics(self, *, internal: bool) -> list[Json]:
        """All topics."""
        with _translated():
            return [_described(each) for each in self._topics.listed(internal=internal)]

    def topic(self, topic: str) -> Json:
        """One topic, with its consumers."""
        with _translated():
            found = self._topics.describe(topic)
            ttl = self._topics.directory.ttl_of_topic(topic, found.id)
            consumers = [f"{p.name}/{p.partition}" for p in self._topics.consumers(topic)]
            return {**_described(found), "consumer_ttl_ms": ttl, "consumers": consumers}

    def create_topic(self, body: bytes) -> Json:
        """Make a topic."""
        asked = _object(body, "name", "partitions", "replication", "config", "consumer_ttl")
        name = _text(asked, "name")
        wanted: Json = {
            "partitions": _number(asked.get("partitions", 1), "partitions", 1),
            "replication": _number(asked.get("replication", -1), "replication", -1),
            "config": _texts(asked.get("config") or {}),
            "consumer_ttl_ms": _ttl(asked, "consumer_ttl"),
        }
        with telling("create topic", None, topic=name, **wanted), _translated():
            self._topics.create(name, **wanted)
        return self.topic(name)

    def keep_consumers_of(self, topic: str, body: bytes) -> Json:
        """Set the TTL of a topic's consumers."""
        ttl = _new_ttl(body, "consumer_ttl")
        with telling("update topic", None, topic=topic, consumer_ttl_ms=ttl), _translated():
            self._topics.directory.keep_consumers_of(topic, ttl)
        return self.topic(topic)

    def delete_topic(self, topic: str, *, force: bool) -> list[Json]:
        """Delete a topic; the consumers that went with it."""
        with telling("delete topic", None, topic=topic, force=force) as told, _translated():
            gone = self._topics.delete(topic, internal=force)
            told["consumers"] = len(gone)
            return [_as_json(key) for key in gone]


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except tuple(kind for kind, _ in _STATUSES) as error:
        status = next(status for kind, status in _STATUSES if isinstance(error, kind))
        raise status(str(error)) from error


def _few(stands: Mapping[RegistryKey, int], keys: Iterable[RegistryKey]) -> list[Json]:
    """Where a consumer stands in some partitions, for the audit."""
    found = [{**_as_json(key), "offset": stands[key]} for key in keys if key in stands]
    return few(found)


def _as_json(key: RegistryKey) -> Json:
    return {"consumer": key.name, "topic": key.topic, "partition": key.partition}


def _described(topic: Described) -> Json:
    return asdict(topic)


def _object(body: bytes, *allowed: str) -> Json:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequest("the body must be a JSON object")
    if unknown := sorted(value.keys() - set(allowed)):
        raise BadRequest(f"unknown: {', '.join(unknown)}; there are {', '.join(allowed)}")
    return value


def _text(asked: Json, key: str) -> str:
    value = asked.get(key)
    if not _is_text(value) or not value:
        raise BadRequest(f'"{key}" is needed, and is a text')
    return str(value)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(map(_is_text, (*value, *value.values()))):
        raise BadRequest('"config" is an object of texts')
    return value


def _is_text(value: Any) -> bool:
    """Whether it is a text that Kafka's clients can be given: not one with a NUL, for example."""
    return isinstance(value, str) and value.isprintable()


def _number(value: Any, key: str, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MAX_INT:
        raise BadRequest(f'"{key}" is a whole number from {least} to {MAX_INT}')
    return value


def _numbers(value: Any) -> list[int]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadRequest('"partitions" is a list of numbers')
    return [_number(each, "partitions") for each in value]


def _ttl(asked: Json, key: str) -> int | None:
    value = asked.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadRequest(f'"{key}" is a text: 30s, 10m, 12h, 7d or none')
    with _translated():
        return parse_ttl(value)


def _new_ttl(body: bytes, key: str) -> int | None:
    """What a TTL is to be from now on: a change that does not say so changes nothing."""
    asked = _object(body, key)
    if key not in asked:
        raise BadRequest(f'"{key}" is needed: 30s, 10m, 12h, 7d or none')
    return _ttl(asked, key)


def _offset(value: Any) -> Offset:
    """``{"beginning": n}``, ``{"end": n}``, ``{"offset": n}`` or ``{"time": "…"}``."""
    if isinstance(value, dict) and len(value) == 1:
        ((kind, n),) = value.items()
        if kind in OFFSETS and isinstance(n, int) and not isinstance(n, bool) and n >= 0:
            return OFFSETS[kind](n)
        if kind == "time" and isinstance(n, str):
            with _translated():
                return Offset.at(parse_time(n))
    raise BadRequest(
        '"to" is one of {"beginning": n}, {"end": n}, {"offset": n} and '
        '{"time": "2026-03-01T12:00Z"}'
    )
