"""Offsets of a connector set from the command line, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.client import ConnectClient

AT_ONCE = 5_000
"""A worker takes 10 MB in a request; partitions that are not in it stay as they are."""


def alter_offsets(client: ConnectClient, name: str, entries: Sequence[dict[str, Any]]) -> str:
    """Set them, in as many requests as it takes; what the worker says to the last.

    ConnectApiError from a later request leaves what the earlier ones have set: to set all of it
    again does no harm.
    """
    parts = [entries[first : first + AT_ONCE] for first in range(0, len(entries), AT_ONCE)]
    message = ""
    for part in parts or [[]]:
        message = client.alter_offsets(name, part)
    return message
