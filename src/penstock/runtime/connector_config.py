"""The keys that the framework itself understands in a connector's configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.columnar.java_regex import compiled, java_regex
from penstock.runtime.topic_creation import GROUPS_KEY
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, no_control_characters, one_of

COMMON_GROUP = "Common"
ERRORS_GROUP = "Error Handling"


COMMON = ConfigDef(
    ConfigKey(
        "name",
        validator=no_control_characters,
        importance=Importance.HIGH,
        doc="Globally unique name of this connector.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "connector.class",
        importance=Importance.HIGH,
        doc="Class of this connector: its full name, its simple name, or that without Connector.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "tasks.max",
        Type.INT,
        default=1,
        validator=at_least(1),
        importance=Importance.HIGH,
        doc="Maximum number of tasks of this connector.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "tasks.max.enforce",
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether more tasks than tasks.max are an error.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "key.converter",
        Type.CLASS,
        default=None,
        importance=Importance.LOW,
        doc="Converter of record keys; unset takes the worker's.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "value.converter",
        Type.CLASS,
        default=None,
        importance=Importance.LOW,
        doc="Converter of record values; unset takes the worker's.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "transforms",
        Type.LIST,
        default=[],
        importance=Importance.LOW,
        doc="Aliases of the transforms that are applied to records, in this order.",
        group="Transforms",
    ),
    ConfigKey(
        "config.action.reload",
        default="restart",
        validator=one_of("none", "restart"),
        importance=Importance.LOW,
        doc="What happens when a file that this config refers to through a config provider "
        "changes. restart: the connector and its tasks begin anew. none: nothing, but tasks "
        "read the values again with their next lease.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "errors.tolerance",
        default="none",
        validator=one_of("none", "all"),
        doc="none: the first bad record fails its task. all: bad records are skipped.",
        group=ERRORS_GROUP,
    ),
)

SOURCE = COMMON + ConfigDef(GROUPS_KEY)

SINK = COMMON + ConfigDef(
    ConfigKey(
        "topics",
        Type.LIST,
        default=[],
        importance=Importance.HIGH,
        doc="Topics to take records from, separated by commas.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "topics.regex",
        default="",
        validator=java_regex,
        importance=Importance.HIGH,
        doc="Regular expression that the names of the topics to take match as a whole.",
        group=COMMON_GROUP,
    ),
    ConfigKey(
        "errors.deadletterqueue.topic.name",
        default="",
        doc="Topic for records that could not be handled; blank keeps none.",
        group=ERRORS_GROUP,
    ),
    ConfigKey(
        "errors.deadletterqueue.context.headers.enable",
        Type.BOOLEAN,
        default=False,
        doc="Whether dead letters carry headers that say what went wrong.",
        group=ERRORS_GROUP,
    ),
)


def sink_topic_errors(config: Mapping[str, str]) -> list[tuple[str, str]]:
    """What is wrong with the choice of topics, by key."""
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
        return False  # its own validator has said so


def _dead_letter_text(topic: str, how: str, setting: str) -> str:
    return (
        f"The DLQ topic '{topic}' may not be {how} topics ('{setting}') consumed by the connector"
    )
