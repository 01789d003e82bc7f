"""What a conversation is made of. Everything is data; ``{s}`` and ``{dir}`` are filled in.

``{s}`` is the name of the side spoken to, so that the two share a broker and nothing on it;
``{dir}`` is a folder. Both are put back into the answers before these are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Ask:
    """A request whose answers are compared. ``body`` is JSON; ``raw`` is sent as it is.

    One that a rebalance refuses is made again for ``settle`` seconds.
    """

    method: str
    path: str
    body: Any = None
    note: str = ""
    raw: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    settle: float = 30.0

    @property
    def title(self) -> str:
        """The name under which differences are listed."""
        note = f" ({self.note})" if self.note else ""
        return f"{self.method} {self.path}{note}"


@dataclass(frozen=True)
class Until:
    """Look again and again until the answer has this status, and these things in it."""

    path: str
    has: Any = None
    status: int = 200


@dataclass(frozen=True)
class Lines:
    """Append text to a file."""

    file: str
    text: str


@dataclass(frozen=True)
class Topic:
    """Create a topic."""

    name: str
    partitions: int = 1


Step = Ask | Until | Lines | Topic


def get(path: str, note: str = "") -> Ask:
    """GET."""
    return Ask("GET", path, note=note)


def put(path: str, body: Any = None, note: str = "") -> Ask:
    """PUT, with a JSON body if there is any."""
    return Ask("PUT", path, body, note)


def post(path: str, body: Any = None, note: str = "") -> Ask:
    """POST, with a JSON body if there is any."""
    return Ask("POST", path, body, note)


def patch(path: str, body: Any = None, note: str = "") -> Ask:
    """PATCH, with a JSON body if there is any."""
    return Ask("PATCH", path, body, note)


def delete(path: str, note: str = "") -> Ask:
    """DELETE."""
    return Ask("DELETE", path, note=note)


def raw(
    method: str, path: str, body: bytes, note: str = "", media: str = "application/json"
) -> Ask:
    """A body that no client would send, or under another media type."""
    return Ask(method, path, note=note, raw=body, headers={"content-type": media} if media else {})


def states(name: str, connector: str, *tasks: str) -> list[Step]:
    """Until the connector and its tasks have these states."""
    shown = [{"id": task, "state": state} for task, state in enumerate(tasks)]
    status = {"connector": {"state": connector}, "tasks": shown}
    info = {"tasks": [{"task": task} for task in range(len(tasks))]}
    return [Until(f"/connectors/{name}/status", status), Until(f"/connectors/{name}", info)]


def gone(name: str) -> list[Step]:
    """Until there is nothing left of a connector."""
    return [
        Until(f"/connectors/{name}", status=404),
        Until(f"/connectors/{name}/status", status=404),
    ]
