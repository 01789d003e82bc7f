"""Records that a sink could not handle: skipped, or set aside in the dead letter topic.

This must not fail because of a record's content, or one bad record would stop a connector that is
configured to tolerate it: texts are cut to a length and nothing is evaluated.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from penstock.engine.lease.lease import Lease, SinkLease
from penstock.engine.lease.tolerating import tolerate
from penstock.engine.pipeline.stage_error import StageError
from penstock.kafka.letter_headers import PREFIX
from penstock.logs.secrets import scrub

HEADER_LIMIT = 4096

AHEAD_SECONDS = 1800
"""How far ahead of the clock a timestamp may be: brokers reject one that is an hour ahead."""

COMMITTED = "All records before it are committed."
HELD = "Records before it are not committed yet, and would be skipped with it."

Letter = tuple[str, bytes | None, bytes | None, list[tuple[str, bytes | None]], int]


class DeadLetters:
    """The bad records of one lease."""

    def __init__(self, lease: SinkLease) -> None:
        self._lease = lease
        self._taken = 0
        self._letters: list[Letter] = []
        self.waiting_bytes = 0
        """The size of the dead letters that were not taken yet."""

    def __len__(self) -> int:
        return self._taken

    def take_letters(self) -> list[Letter]:
        """(topic, value, key, headers, timestamp) of each record for the dead letter topic, once.

        A timestamp of 0 is the time at which it is sent.
        """
        letters, self._letters = self._letters, []
        self.waiting_bytes = 0
        return letters

    def take(self, raw: pa.RecordBatch, row: int, error: StageError, *, held: bool = False) -> None:
        """Set the record in ``row`` aside; FatalError if the connector tolerates no errors.

        ``held``: the task still holds records before it, which are not committed.
        """
        record = {name: raw.column(name)[row].as_py() for name in raw.schema.names}
        place = f"{record['topic']}-{record['partition']} at offset {record['offset']}"
        shown = {name: record[name] for name in ("topic", "partition", "offset", "timestamp")}
        tolerate(
            self._lease,
            error,
            record=f"consumed record is {shown}",
            place=place,
            remedy=f"{HELD if held else COMMITTED} To skip it, stop the connector, alter its "
            f"offset of {record['topic']}-{record['partition']} to {record['offset'] + 1} and "
            "resume it",
        )
        self._taken += 1
        if self._lease.tolerance.dead_letter_topic:
            self._letters.append(letter := self._letter(record, error))
            self.waiting_bytes += _size(letter)

    def _letter(self, record: dict[str, Any], error: StageError) -> Letter:
        headers = [(h["key"], h["value"]) for h in record["headers"] or ()]
        if self._lease.tolerance.context_headers:
            place = {name: record[name] for name in ("topic", "partition", "offset")}
            headers += context_headers(self._lease, error, place)
        topic = self._lease.tolerance.dead_letter_topic
        return topic, record["value"], record["key"], headers, sendable(record["timestamp"])


def context_headers(
    lease: Lease, error: StageError, place: Mapping[str, Any]
) -> list[tuple[str, bytes]]:
    """What went wrong, under Kafka Connect's names; ``place`` is where."""
    facts = {
        **place,
        "connector.name": lease.connector,
        "task.id": lease.task,
        "stage": error.stage,
        "class.name": error.step,
        "exception.class.name": error.error_name,
        "exception.message": scrub(str(error), lease.secrets),
    }
    context = {k: limited(str(v)) for k, v in facts.items()}
    context["exception.stacktrace"] = _trace(lease, error)
    return [(PREFIX + k, v) for k, v in context.items()]


def _trace(lease: Lease, error: StageError) -> bytes:
    """The end of a traceback, which says what went wrong."""
    trace = scrub("".join(traceback.format_exception(error.error)), lease.secrets)
    return _whole(_encoded(trace)[-HEADER_LIMIT:])


def limited(text: str) -> bytes:
    """The beginning of a text, as long as a header may be."""
    return _whole(_encoded(text)[:HEADER_LIMIT])


def _size(letter: Letter) -> int:
    _, value, key, headers, _ = letter
    return sum(len(part or b"") for part in (value, key, *(text for _, text in headers)))


def _encoded(text: str) -> bytes:
    return text.encode(errors="replace")


def _whole(text: bytes) -> bytes:
    """Without the rest of a character that was cut in two."""
    return text.decode(errors="ignore").encode()


def sendable(timestamp: int | None) -> int:
    """The record's own timestamp, unless it has none or a broker would reject it."""
    latest = (time.time() + AHEAD_SECONDS) * 1000
    return timestamp if timestamp is not None and 0 < timestamp < latest else 0
