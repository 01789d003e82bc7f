"""The subject under which the schema of a key or value is registered."""

from __future__ import annotations

from penstock.columnar.json_text import Misfit
from penstock.registry.settings import BY_BOTH, BY_TOPIC, simple


def subject(strategy: str, topic: str, side: str, record: str | None) -> str:
    """By the strategy's class; ``record`` is the name of the schema, which some of them need."""
    if simple(strategy) == simple(BY_TOPIC):
        return f"{topic}-{side}"
    if not record:
        raise Misfit(
            f"{simple(strategy)} needs records whose schema has a name. "
            "SetSchemaMetadata gives them one, or use TopicNameStrategy."
        )
    return f"{topic}-{record}" if simple(strategy) == simple(BY_BOTH) else record
