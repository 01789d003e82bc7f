"""Offsets in requests and answers, checked with Kafka Connect's error texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.engine.lease.lease import Range
from penstock.kafka.topics import PartitionId
from penstock.runtime.errors import BadRequest, InternalError
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.offsets import ChangedOffset, SourceOffset, SourcePartition

PRIMITIVES = (str, int, float, bool, type(None))
AS_LISTED = "Write them as `penstock get offsets NAME -o json` prints them."
A_NUMBER = "Give a whole number, 0 or more."


def source_changes(
    requested: Sequence[Any],
) -> list[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """(partition, offset or None) of each entry of a source's request."""
    return [
        (_flat_map(entry.get("partition")), _flat_map(entry.get("offset"))) for entry in requested
    ]


def source_entry(
    cls: type[Any] | None, partition: SourcePartition, offset: SourceOffset
) -> dict[str, Any]:
    """One offset of a source of class ``cls`` (None: not installed), as it is listed."""
    unlisted = getattr(cls, "unlisted_offset_keys", ())
    shown = {key: value for key, value in offset.items() if key not in unlisted}
    return {"partition": partition, "offset": shown}


def rewritten_source(answer: Iterable[ChangedOffset]) -> list[ChangedOffset]:
    """What a source connector stores instead of what was requested; checked as a request is."""
    return [(_flat_map(dict(p)) or {}, _flat_map(o if o is None else dict(o))) for p, o in answer]


def rewritten_sink(answer: Mapping[TopicPartition, int | None]) -> dict[PartitionId, int | None]:
    """What a sink connector commits instead of what was requested; checked as a request is."""
    return {
        (topic, partition): None if offset is None else _integer(offset, "offset", 64)
        for (topic, partition), offset in answer.items()
    }


def _flat_map(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InternalError("Offsets must be specified as a Map").advising(AS_LISTED)
    for key, field in value.items():
        if not isinstance(field, PRIMITIVES):
            raise InternalError(
                f"Offsets may only contain primitive types as values, but field {key} contains "
                f"{_schema_type(field)}"
            ).advising(AS_LISTED)
    return value


def _schema_type(value: Any) -> str:
    return "MAP" if isinstance(value, dict) else "ARRAY"


def sink_changes(requested: Sequence[Any]) -> dict[PartitionId, int | None]:
    """New offset, or None, of each partition of a sink's request."""
    return {_position(entry.get("partition")): _offset(entry.get("offset")) for entry in requested}


def passed_over(uncommitted: Iterable[Range], changes: Mapping[PartitionId, int | None]) -> str:
    """The uncommitted offsets before those that a user sets; "" if there are none."""
    parts = []
    for topic, partition, first, end in uncommitted:
        last = min(end, changes.get((topic, partition)) or 0) - 1
        if last >= first:
            parts.append(f"{topic}-{partition} offsets {first} to {last}")
    return ", ".join(parts)


def _position(partition: Any) -> PartitionId:
    if partition is None:
        raise BadRequest(
            "The partition for a sink connector offset cannot be null or missing"
        ).advising(AS_LISTED)
    if not {"kafka_topic", "kafka_partition"} <= partition.keys():
        raise BadRequest(
            "The partition for a sink connector offset must contain the keys 'kafka_topic' and "
            "'kafka_partition'"
        ).advising(AS_LISTED)
    topic, number = partition["kafka_topic"], partition["kafka_partition"]
    if topic is None:
        raise BadRequest("Kafka topic names must be valid strings and may not be null").advising(
            AS_LISTED
        )
    if number is None:
        raise BadRequest("Kafka partitions must be valid numbers and may not be null").advising(
            A_NUMBER
        )
    return str(topic), _integer(number, "partition", 32)


def _offset(offset: Any) -> int | None:
    if offset is None:
        return None
    if "kafka_offset" not in offset:
        raise BadRequest(
            "The offset for a sink connector should either be null or contain the key "
            "'kafka_offset'"
        ).advising(AS_LISTED)
    return _integer(offset["kafka_offset"], "offset", 64)


def _integer(value: Any, word: str, bits: int) -> int:
    # Only what Java's parsers accept: int() would accept blanks, underscores and any length.
    number = int(value) if re.fullmatch(r"[+-]?[0-9]{1,30}", str(value)) else 1 << bits
    if number >= 1 << (bits - 1):
        raise BadRequest(
            f"Failed to parse the following Kafka {word} value in the provided offsets: "
            f"'{_java_text(value)}'. "
            f"{word.title()} values for sink connectors need to be integers."
        ).advising(A_NUMBER)
    if number < 0:
        raise BadRequest(
            f"Kafka {word} values may not be negative, but one of them is {value}"
        ).advising(A_NUMBER)
    return number


def _java_text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
