"""What a connector's topics have in common."""

from __future__ import annotations

from collections.abc import Mapping

SEPARATORS = "-._"


def topic_prefix(config: Mapping[str, str]) -> str:
    """``topic.prefix``, else ``topic`` or ``topics``, else nothing."""
    keys = ("topic.prefix", "topic", "topics")
    return next((config[key] for key in keys if config.get(key)), "")


def short_name(topic: str, prefix: str) -> str:
    """The topic without its prefix; all of it, if that is all there is."""
    rest = topic.removeprefix(prefix).lstrip(SEPARATORS) if prefix else topic
    return rest or topic
