"""The options of ``format("penstock")``. Spark does not keep upper and lower case apart in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from penstock.engine.frames.topic_frame import KAFKA, SERVERS
from penstock.kafka.client_settings import client_settings
from penstock.kafka.clients import Connection
from penstock.sdk.errors import ConfigError, PenstockError

Given = Mapping[str, str]
Offsets = dict[str, dict[int, int]]
"""By topic and partition."""

CONNECTOR = ("config", "offsets", "values", "limit", "idleSeconds")
TOPIC = ("topic", "startingOffsets", "headers")
BATCH = ("endingOffsets", "consumer", "recordsPerTask")
STREAM = ("consumer", "takeOver")
WRITING = ("topic",)
BROKERS = f"{KAFKA}{SERVERS}"


class OptionError(PenstockError):
    """An option that cannot be used; the text says which, and what it may be."""


@dataclass(frozen=True)
class ConnectorOptions:
    """A source connector as a batch."""

    config: Mapping[str, str]
    offsets: tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]
    """Where it begins: source partitions and their offsets."""
    as_bytes: bool
    """Keys and values as the connector's converters would write them."""
    limit: int | None
    """Records of each task, at most."""
    idle_seconds: float
    """How long a task may bring nothing before it counts as done."""


@dataclass(frozen=True)
class TopicOptions:
    """Topics, as a batch or as a stream."""

    connection: Connection
    topics: tuple[str, ...]
    starting: str | Offsets
    ending: str | Offsets
    headers: bool
    consumer: str | None = None
    take_over: bool = False
    records_per_task: int | None = None


@dataclass(frozen=True)
class WritingOptions:
    """A batch into topics."""

    connection: Connection
    topic: str | None
    """None: each record names its own."""


def reading_options(given: Given) -> ConnectorOptions | TopicOptions:
    """Of a batch; OptionError."""
    if "config" in given and "topic" in given:
        raise OptionError('give either "config", a source connector, or "topic", not both')
    if "config" in given:
        _refuse_unknown(given, CONNECTOR, brokers=False)
        return _connector(given)
    if "topic" not in given:
        raise OptionError(
            'give "config", the configuration of a source connector as JSON, or "topic"'
        )
    _refuse_unknown(given, TOPIC + BATCH, brokers=True)
    return _topic(given)


def streaming_options(given: Given) -> TopicOptions:
    """Of a stream; OptionError."""
    if "config" in given:
        raise OptionError(
            "a connector can be read as a batch only: its offsets are the worker's, not a "
            "checkpoint's. Run it on a worker and stream its topic."
        )
    if "topic" not in given:
        raise OptionError('give "topic", what is to be streamed')
    _refuse_unknown(given, TOPIC + STREAM, brokers=True)
    return _topic(given)


def writing_options(given: Given, *, overwrite: bool) -> WritingOptions:
    """Of a batch that is written; OptionError."""
    if overwrite:
        raise OptionError('topics can only be appended to: write with mode("append")')
    _refuse_unknown(given, WRITING, brokers=True)
    return WritingOptions(_connection(given), given.get("topic", "").strip() or None)


def _refuse_unknown(given: Given, known: tuple[str, ...], *, brokers: bool) -> None:
    names = {name.lower(): name for name in known}
    for key in given:
        if key.lower() in names or (brokers and key.lower().startswith(KAFKA)):
            continue
        near = get_close_matches(key.lower(), [*names, BROKERS], 1)
        meant = f": did you mean {names.get(near[0], near[0])}?" if near else ""
        also = f", {BROKERS}, {KAFKA}*" if brokers else ""
        raise OptionError(f'no option "{key}"{meant} There are {", ".join(known)}{also}')


def _connector(given: Given) -> ConnectorOptions:
    config = _object(given["config"], "config")
    if (name := given.get("values", "columns").lower()) not in {"columns", "bytes"}:
        raise OptionError(f'"values" is columns or bytes, not {name!r}')
    return ConnectorOptions(
        {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in config.items()
        },
        _source_offsets(given.get("offsets", "[]")),
        name == "bytes",
        _number(given, "limit"),
        _seconds(given, "idleSeconds", 2.0),
    )


def _source_offsets(text: str) -> tuple[tuple[dict[str, Any], dict[str, Any]], ...]:
    """As the REST API lists them: all of its answer, or the list in it."""
    read = _json(text, "offsets")
    entries = read.get("offsets") if isinstance(read, dict) else read
    try:
        pairs = [(entry["partition"], entry["offset"]) for entry in entries or ()]
    except (TypeError, KeyError):
        pairs = [(None, None)]
    if not all(isinstance(each, dict) for pair in pairs for each in pair):
        raise OptionError(
            '"offsets" is what GET /connectors/NAME/offsets answers: '
            '[{"partition": {...}, "offset": {...}}, ...]'
        )
    return tuple(pairs)


def _topic(given: Given) -> TopicOptions:
    topics = tuple(name.strip() for name in given["topic"].split(",") if name.strip())
    consumer = given.get("consumer", "").strip() or None
    if not topics:
        raise OptionError('"topic" is the name of a topic, or several with commas between')
    if consumer and len(topics) > 1:
        raise OptionError(f'consumer "{consumer}" reads one topic; "topic" names {len(topics)}')
    if consumer and "startingOffsets" in given:
        raise OptionError(
            f'consumer "{consumer}" begins where it stands: leave out startingOffsets, or alter it '
            f"(penstock consumer reset {consumer})"
        )
    return TopicOptions(
        _connection(given),
        topics,
        _place(given, "startingOffsets", "earliest", topics),
        _place(given, "endingOffsets", "latest", topics),
        _flag(given, "headers"),
        consumer,
        _flag(given, "takeOver"),
        _number(given, "recordsPerTask"),
    )


def _connection(given: Given) -> Connection:
    settings = {k.lower().removeprefix(KAFKA): v for k, v in given.items() if _kafka(k)}
    servers = settings.pop(SERVERS, "").strip()
    if not servers:
        raise OptionError(f'give "{BROKERS}": host:port of one or more brokers')
    try:
        return Connection(servers, client_settings(settings))
    except ConfigError as error:
        raise OptionError(f"{KAFKA}{error.key}: {error}") from None


def _kafka(key: str) -> bool:
    return key.lower().startswith(KAFKA)


def _place(given: Given, name: str, default: str, topics: tuple[str, ...]) -> str | Offsets:
    text = given.get(name, default).strip()
    if text.lower() in {"earliest", "latest"}:
        return text.lower()
    read = _json(text, name) if text.startswith("{") else None
    try:
        if read is None or not set(read) <= set(topics):
            raise ValueError
        return {t: {int(p): _offset(o) for p, o in found.items()} for t, found in read.items()}
    except (ValueError, TypeError, AttributeError):
        example = json.dumps({topics[0]: {"0": 23}})
        raise OptionError(
            f'"{name}" is earliest, latest, or offsets by topic and partition, such as {example}'
        ) from None


def _offset(given: object) -> int:
    if not isinstance(given, int) or given < 0:
        raise ValueError
    return given


def _object(text: str, name: str) -> dict[str, Any]:
    read = _json(text, name)
    if not isinstance(read, dict):
        raise OptionError(f'"{name}" is a JSON object, such as {{"connector.class": "..."}}')
    return read


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:  # what it says has no part of the text, which may be secret
        raise OptionError(f'"{name}" is not valid JSON: {error}') from None


def _flag(given: Given, name: str) -> bool:
    text = given.get(name, "false").strip().lower()
    if text not in {"true", "false"}:
        raise OptionError(f'"{name}" is true or false, not {text!r}')
    return text == "true"


def _number(given: Given, name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not text.isdecimal() or not int(text):
        raise OptionError(f'"{name}" is a number of records, 1 or more, not {text!r}')
    return int(text)


def _seconds(given: Given, name: str, default: float) -> float:
    text = given.get(name, str(default))
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise OptionError(f'"{name}" is a number of seconds, 0 or more, not {text!r}')
    return found
