"""Offsets as resources show and take them: JSON texts of sources, fields of sinks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from penstock.client import RawOffset
from penstock.operator.conditions import stamp
from penstock.operator.errors import InvalidResource

Json = dict[str, Any]
MOST_BYTES = 256 * 1024
"""Of offsets in a status: etcd keeps no object larger than 1.5 MB."""


def status_section(offsets: Sequence[RawOffset], kind: str, now: datetime) -> Json:
    """status.connectorOffsets: ``source`` or ``sink``, never both."""
    shown = as_sink(offsets) if is_sink(offsets, kind) else as_source(offsets)
    key = "sink" if is_sink(offsets, kind) else "source"
    return {"lastUpdateTime": stamp(now), key: fitting(shown)}


def fitting(shown: list[Json]) -> list[Json]:
    """As many of the first as a status may hold."""
    size, kept = 0, []
    for entry in shown:
        size += len(json.dumps(entry))
        if size > MOST_BYTES:
            break
        kept.append(entry)
    return kept


def is_sink(offsets: Sequence[RawOffset], kind: str) -> bool:
    """By the type that the worker tells; where it does not know, by what the offsets look like."""
    if kind in ("source", "sink") or not offsets:
        return kind == "sink"
    return all(
        json.loads(o.partition).keys() == {"kafka_topic", "kafka_partition"} for o in offsets
    )


def as_source(offsets: Sequence[RawOffset]) -> list[Json]:
    """Texts, byte for byte."""
    return [
        {"partition": o.partition, **({} if o.offset is None else {"offset": o.offset})}
        for o in offsets
    ]


def as_sink(offsets: Sequence[RawOffset]) -> list[Json]:
    """Fields, in the words of resources."""
    return [_sink_entry(o) for o in offsets]


def _sink_entry(entry: RawOffset) -> Json:
    partition = json.loads(entry.partition)
    shown: Json = {
        "partition": {
            "kafkaTopic": partition["kafka_topic"],
            "kafkaPartition": partition["kafka_partition"],
        }
    }
    if entry.offset is not None:
        shown["offset"] = {"kafkaOffset": json.loads(entry.offset)["kafka_offset"]}
    return shown


def wanted_offsets(spec: Json) -> list[RawOffset]:
    """What a KafkaConnectorOffsets asks for; InvalidResource says what is wrong with it."""
    source, sink = spec.get("sourceOffsets"), spec.get("sinkOffsets")
    if (source is None) == (sink is None):
        raise InvalidResource("Give exactly one of sourceOffsets and sinkOffsets.")
    if source is not None:
        return [_wanted_source(entry, number) for number, entry in enumerate(source)]
    return [_wanted_sink(entry) for entry in sink or ()]


def _wanted_source(entry: Json, number: int) -> RawOffset:
    where = f"sourceOffsets[{number}]"
    offset = entry.get("offset")
    partition = _checked(entry.get("partition"), f"{where}.partition")
    if offset is None or offset.strip() == "null":
        return RawOffset(partition, None)
    return RawOffset(partition, _checked(offset, f"{where}.offset"))


def _checked(text: Any, where: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidResource(f"{where} is not JSON: {error}. Correct it in the spec.") from error
    if not isinstance(value, dict):
        raise InvalidResource(f"{where} is JSON, but not an object: put it in {{ }}.")
    return str(text)


def _wanted_sink(entry: Json) -> RawOffset:
    partition = {
        "kafka_topic": entry["partition"]["kafkaTopic"],
        "kafka_partition": entry["partition"]["kafkaPartition"],
    }
    offset = entry.get("offset")
    place = None if offset is None else json.dumps({"kafka_offset": offset["kafkaOffset"]})
    return RawOffset(json.dumps(partition), place)


def already_there(wanted: Sequence[RawOffset], found: Sequence[RawOffset]) -> bool:
    """Whether every wanted offset is the one that the worker has; null: whether it has none."""
    have = {_key(o.partition): json.loads(o.offset) for o in found if o.offset is not None}
    return all(
        have.get(_key(o.partition)) == (None if o.offset is None else json.loads(o.offset))
        for o in wanted
    )


def _key(partition: str) -> str:
    return json.dumps(json.loads(partition), sort_keys=True)
