"""Objects in a store, as a source connector sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ObjectContext:
    """Which object this is, and what its name says about its records."""

    name: str
    """Its key in the store, or its path."""
    topic: str | None = None
    partition: int | None = None
    start_offset: int | None = None
    timestamp: int | None = None
    """In milliseconds since the epoch, or whatever number stands in the name."""
    key: str | None = None


@dataclass(frozen=True)
class StoredObject:
    """An object to be dealt out: its name, and how many bytes of it are left to read."""

    name: str
    bytes_left: int = 0
