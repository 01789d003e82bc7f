"""A record as a consumer returns it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Message

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Record:
    """One record of a topic. What is asked of it is taken out of the client's memory then."""

    __slots__ = ("_message",)

    def __init__(self, message: Message) -> None:
        self._message = message

    @property
    def topic(self) -> str:
        """The topic it is from."""
        return self._message.topic() or ""

    @property
    def partition(self) -> int:
        """The partition it is from."""
        return self._message.partition() or 0

    @property
    def offset(self) -> int:
        """Its place in the partition."""
        return self._message.offset() or 0

    @property
    def key(self) -> bytes | None:
        """The key, if it has one."""
        return self._message.key()

    @property
    def value(self) -> bytes | None:
        """The value; None says that the key was deleted."""
        return self._message.value()

    @property
    def key_text(self) -> str | None:
        """The key as UTF-8; what is none is replaced."""
        return _text(self.key)

    @property
    def text(self) -> str | None:
        """The value as UTF-8; what is none is replaced."""
        return _text(self.value)

    def json(self) -> Any:
        """The value as JSON; ValueError if it is none."""
        value = self.value
        return None if value is None else json.loads(value)

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """The headers in their order; a name may be there more than once."""
        found = cast("list[tuple[str, str | bytes | None]]", self._message.headers() or [])
        return [(name, _bytes(value)) for name, value in found]

    @property
    def timestamp(self) -> int | None:
        """When it was made or stored, in milliseconds since 1970."""
        kind, milliseconds = self._message.timestamp()
        return None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds

    @property
    def time(self) -> datetime | None:
        """The same as a time, in UTC; None as well if it lies in no year from 1 to 9999."""
        milliseconds = self.timestamp
        try:
            return None if milliseconds is None else EPOCH + timedelta(milliseconds=milliseconds)
        except OverflowError:
            return None

    def __repr__(self) -> str:
        size = len(self.value or b"")
        return f"Record({self.topic}/{self.partition} at {self.offset}, {size} bytes)"


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="replace")


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value
