"""The keys that the framework itself understands in a connector's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.columnar.java_regex import compiled, java_regex
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width
from penstock.sdk.config_validators import (
    at_least,
    no_control_characters,
    non_empty,
    one_of,
    one_of_ignoring_case,
    unique_aliases,
)

COMMON_GROUP = "Common"
ERRORS_GROUP = "Error Handling"
ONCE_GROUP = "Exactly Once Support"
UNTOUCHED = " Header values are bytes here, so no converter changes them."
UNUSED = " Accepted for compatibility with Kafka Connect; it has no effect yet."


def _converter_keys(kind: str, order: int) -> tuple[ConfigKey, ConfigKey]:
    word = kind.title()
    return (
        ConfigKey(
            f"{kind}.converter",
            Type.CLASS,
            default=None,
            importance=Importance.LOW,
            doc=f"Converter of record {kind}s; unset: the worker's."
            + (UNTOUCHED if kind == "header" else ""),
            group=COMMON_GROUP,
            order=order,
            width=Width.SHORT,
            display_name=f"{word} converter class",
        ),
        ConfigKey(
            f"{kind}.converter.plugin.version",
            default=None,
            importance=Importance.LOW,
            doc=f"Version of the {kind} converter.",
            group=COMMON_GROUP,
            order=order + 1,
            width=Width.SHORT,
            display_name=f"{word} converter version",
        ),
    )


def _error_key(name: str, kind: Type, default: Any, **shown: Any) -> ConfigKey:
    return ConfigKey(name, kind, default=default, group=ERRORS_GROUP, **shown)


COMMON = ConfigDef(
    ConfigKey(
        "name",
        validator=no_control_characters,
        importance=Importance.HIGH,
        doc="Globally unique name of this connector.",
        group=COMMON_GROUP,
        order=1,
        width=Width.MEDIUM,
        display_name="Connector name",
    ),
    ConfigKey(
        "connector.class",
        importance=Importance.HIGH,
        doc="Class of this connector: its full name or simple name, with or without Connector.",
        group=COMMON_GROUP,
        order=2,
        width=Width.LONG,
        display_name="Connector class",
    ),
    ConfigKey(
        "connector.plugin.version",
        default=None,
        doc="Version of the connector.",
        group=COMMON_GROUP,
        order=3,
        width=Width.MEDIUM,
        display_name="Connector version",
    ),
    ConfigKey(
        "tasks.max",
        Type.INT,
        default=1,
        validator=at_least(1),
        importance=Importance.HIGH,
        doc="Maximum number of tasks of this connector.",
        group=COMMON_GROUP,
        order=4,
        width=Width.SHORT,
        display_name="Tasks max",
    ),
    ConfigKey(
        "tasks.max.enforce",
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether more tasks than tasks.max are an error.",
        group=COMMON_GROUP,
        order=5,
        width=Width.SHORT,
        display_name="Enforce tasks max",
    ),
    *_converter_keys("key", 6),
    *_converter_keys("value", 8),
    *_converter_keys("header", 10),
    ConfigKey(
        "transforms",
        Type.LIST,
        default=[],
        validator=unique_aliases,
        importance=Importance.LOW,
        doc="Aliases of the transforms that are applied to records, in this order.",
        group="Transforms",
        order=12,
        width=Width.LONG,
        display_name="Transforms",
    ),
    ConfigKey(
        "predicates",
        Type.LIST,
        default=[],
        validator=unique_aliases,
        importance=Importance.LOW,
        doc="Aliases of the predicates that transforms use.",
        group="Predicates",
        order=13,
        width=Width.LONG,
        display_name="Predicates",
    ),
    ConfigKey(
        "config.action.reload",
        default="restart",
        validator=one_of("none", "restart"),
        importance=Importance.LOW,
        doc="What happens when a file that this config refers to through a config provider "
        "changes. restart: the connector and its tasks are restarted. none: nothing, but tasks "
        "read the values again with their next lease.",
        group=COMMON_GROUP,
        order=14,
        width=Width.MEDIUM,
        display_name="Reload Action",
    ),
    _error_key(
        "errors.retry.timeout",
        Type.LONG,
        0,
        order=1,
        width=Width.MEDIUM,
        display_name="Retry Timeout for Errors",
        doc="How long, in ms, to retry a failed operation; -1: no limit.",
    ),
    _error_key(
        "errors.retry.delay.max.ms",
        Type.LONG,
        60_000,
        order=2,
        width=Width.MEDIUM,
        display_name="Maximum Delay Between Retries for Errors",
        doc="Longest pause, in ms, between two retries.",
    ),
    ConfigKey(
        "errors.tolerance",
        default="none",
        validator=one_of("none", "all"),
        doc="none: the first bad record fails its task. all: bad records are skipped.",
        group=ERRORS_GROUP,
        order=3,
        width=Width.SHORT,
        display_name="Error Tolerance",
    ),
    _error_key(
        "errors.log.enable",
        Type.BOOLEAN,
        False,
        order=4,
        width=Width.SHORT,
        display_name="Log Errors",
        doc="Whether to log each bad record that is skipped.",
    ),
    _error_key(
        "errors.log.include.messages",
        Type.BOOLEAN,
        False,
        order=5,
        width=Width.SHORT,
        display_name="Log Error Details",
        doc="Whether the log line of a bad record says which record it was.",
    ),
)

DEAD_LETTERS = ConfigDef(
    _error_key(
        "errors.deadletterqueue.topic.name",
        Type.STRING,
        "",
        order=6,
        width=Width.MEDIUM,
        display_name="Dead Letter Queue Topic Name",
        doc="Topic for records that could not be processed; blank: none.",
    ),
    _error_key(
        "errors.deadletterqueue.topic.replication.factor",
        Type.SHORT,
        3,
        order=7,
        width=Width.MEDIUM,
        display_name="Dead Letter Queue Topic Replication Factor",
        doc="Replication factor of that topic.",
    ),
    _error_key(
        "errors.deadletterqueue.context.headers.enable",
        Type.BOOLEAN,
        False,
        order=8,
        width=Width.MEDIUM,
        display_name="Enable Error Context Headers",
        doc="Whether dead letters carry headers that say what went wrong.",
    ),
)

SOURCE = COMMON + ConfigDef(
    ConfigKey(
        "topic.creation.groups",
        Type.LIST,
        default=[],
        validator=unique_aliases,
        importance=Importance.LOW,
        doc="Groups of settings for topics that are created for the connector's records.",
        group="Topic Creation",
        order=1,
        width=Width.LONG,
        display_name="Topic Creation Groups",
    ),
    ConfigKey(
        "exactly.once.support",
        default="requested",
        validator=one_of_ignoring_case("REQUIRED", "REQUESTED"),
        doc="requested or required. Either way offsets are in the transaction of their records.",
        group=ONCE_GROUP,
        order=2,
        width=Width.SHORT,
        display_name="Exactly once support",
    ),
    ConfigKey(
        "transaction.boundary",
        default="poll",
        validator=one_of_ignoring_case("INTERVAL", "POLL", "CONNECTOR"),
        doc="poll: as soon as there are no more records, and at least every second. interval: when "
        "the interval is over, when a transaction has 100,000 records or 32 MB, and when the "
        "task ends. connector: where the connector defines it, which no connector here does.",
        group=ONCE_GROUP,
        order=3,
        width=Width.SHORT,
        display_name="Transaction Boundary",
    ),
    ConfigKey(
        "transaction.boundary.interval.ms",
        Type.LONG,
        default=None,
        validator=at_least(0),
        importance=Importance.LOW,
        doc="The interval of transaction.boundary=interval, in ms, at most 30000; unset: the "
        "worker's offset.flush.interval.ms.",
        group=ONCE_GROUP,
        order=4,
        width=Width.SHORT,
        display_name="Transaction boundary interval",
    ),
    ConfigKey(
        "offsets.storage.topic",
        default=None,
        validator=non_empty,
        importance=Importance.LOW,
        doc="A separate topic for this connector's offsets." + UNUSED,
        group="offsets.topic",
        order=1,
        width=Width.LONG,
        display_name="Offsets topic",
    ),
)
SOURCE += DEAD_LETTERS

SINK = COMMON + ConfigDef(
    ConfigKey(
        "topics",
        Type.LIST,
        default=[],
        importance=Importance.HIGH,
        doc="Topics to read, separated by commas.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics",
    ),
    ConfigKey(
        "topics.regex",
        default="",
        validator=java_regex,
        importance=Importance.HIGH,
        doc="Regular expression that the whole name of a topic to read must match.",
        group=COMMON_GROUP,
        order=4,
        width=Width.LONG,
        display_name="Topics regex",
    ),
)
SINK += DEAD_LETTERS


def sink_topic_errors(config: Mapping[str, str]) -> list[tuple[str, str]]:
    """The errors in the choice of topics, by key."""
    topics, regex = config.get("topics", "").strip(), config.get("topics.regex", "").strip()
    dead = config.get("errors.deadletterqueue.topic.name", "").strip()
    if not topics and not regex:
        message = "Must configure one of topics or topics.regex"
        return [("topics", message), ("topics.regex", message)]
    if topics and regex:
        message = "topics and topics.regex are mutually exclusive options, but both are set."
        return [("topics", message), ("topics.regex", message)]
    listed = [topic.strip() for topic in topics.split(",")]
    if dead and dead in listed:
        return [
            (
                "topics",
                _dead_letter_text(dead, "included in the list of", f"topics=[{', '.join(listed)}]"),
            )
        ]
    if dead and regex and _matches(regex, dead):
        text = _dead_letter_text(dead, "matched by the regex for the", f"topics.regex={regex}")
        return [("topics.regex", text)]
    return []


def _matches(regex: str, topic: str) -> bool:
    try:
        return compiled(regex).fullmatch(topic) is not None
    except re.error:
        return False  # reported by its own validator


def _dead_letter_text(topic: str, how: str, setting: str) -> str:
    return (
        f"The DLQ topic '{topic}' may not be {how} topics ('{setting}') consumed by the connector"
    )
