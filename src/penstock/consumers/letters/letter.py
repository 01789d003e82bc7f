"""A record of a dead letter topic, with what its headers say about why it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.consumers.reading.record import Record
from penstock.kafka.letter_headers import PREFIX
from penstock.logs.secrets import scrub_unknown

TEXT_LIMIT = 4096
"""Letters of a text from a header that are kept: Kafka Connect's own traces have no limit."""

Header = tuple[str, bytes | None]


@dataclass(frozen=True)
class Letter:
    """One dead letter."""

    partition: int
    """Where it is in the dead letter topic."""
    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    """The record's own, without those that the connector added."""
    context: Mapping[str, str] = field(default_factory=dict)
    """What the connector added, by Kafka Connect's names without their prefix; secrets hidden."""

    @staticmethod
    def of(record: Record) -> Letter:
        """The letter that a record of a dead letter topic is."""
        headers = record.headers
        return Letter(
            record.partition,
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            tuple(each for each in headers if not each[0].startswith(PREFIX)),
            {name.removeprefix(PREFIX): _text(v) for name, v in headers if name.startswith(PREFIX)},
        )

    @property
    def place(self) -> str:
        """Its partition and offset, as people write them."""
        return f"{self.partition}/{self.offset}"

    @property
    def topic(self) -> str:
        """The topic that it comes from, or was meant for; empty if no header says so."""
        return self.context.get("topic", "")

    @property
    def from_source(self) -> bool:
        """Whether a source connector could not handle it: it was never in a topic."""
        return "source.partition" in self.context

    @property
    def original_partition(self) -> int | None:
        """The partition that a sink has read it from."""
        return _number(self.context.get("partition", ""))

    @property
    def error(self) -> str:
        """The class of the error; empty if no header says so."""
        return self.context.get("exception.class.name", "")

    @property
    def size(self) -> int:
        """Bytes that it takes to send it."""
        parts = (self.key, self.value, *(text for _, text in self.headers))
        return sum(len(part or b"") for part in parts)

    def origin(self) -> str:
        """Where it came from, in words."""
        if self.from_source:
            meant = f", for topic {self.topic}" if self.topic else ""
            place = self.context["source.partition"]
            return f"source {place} at {self.context.get('source.offset', '?')}{meant}"
        if not self.topic:
            return "unknown: the connector has errors.deadletterqueue.context.headers.enable=false"
        at = self.context.get("offset", "?")
        return f"{self.topic}-{self.context.get('partition', '?')} at offset {at}"

    def facts(self) -> dict[str, Any]:
        """What the headers say, for a program; the trace is left to who wants it."""
        told = {k: v for k, v in self.context.items() if k != "exception.stacktrace"}
        return {"partition": self.partition, "offset": self.offset, "errors": told}


def _text(value: bytes | None) -> str:
    # Cut before it is searched: a text of any length may come from anywhere.
    return scrub_unknown((value or b"")[:TEXT_LIMIT].decode(errors="replace"))


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
