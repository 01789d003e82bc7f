"""Worker settings for a test that runs workers of its own."""

from __future__ import annotations


def own_topics(name: str) -> dict[str, str]:
    """A cluster that shares nothing with any other but the broker."""
    return {
        "group.id": name,
        "config.storage.topic": f"{name}-configs",
        "offset.storage.topic": f"{name}-offsets",
        "status.storage.topic": f"{name}-status",
        "offset.storage.partitions": "1",
        "status.storage.partitions": "1",
    }
