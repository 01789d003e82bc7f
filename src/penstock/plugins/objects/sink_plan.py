"""What is committed as the metadata of a partition while its records are held back.

Of each object that is complete but not yet written, which offsets it has and the time in its name:
the next lease writes the same object. Of the object that still grows, when it was begun: its age
does not start again with a lease.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

MOST_PLANNED: Final = 64
"""Kafka takes 4096 bytes."""


class Begun(NamedTuple):
    """An object from its first record on; times in milliseconds."""

    start: int
    since: int
    time: int


class Planned(NamedTuple):
    """An object with all records from ``start`` up to ``end``, which is not in it."""

    start: int
    end: int
    time: int


@dataclass
class Plan:
    """What the last commit of a partition says; ``layout`` is a mark of the sink's settings."""

    layout: str
    planned: list[Planned] = field(default_factory=list)
    begun: Begun | None = None

    def text(self) -> str:
        """As metadata; "" if there is nothing to remember."""
        if not self.planned and self.begun is None:
            return ""
        body = {"layout": self.layout, "planned": self.planned, "begun": self.begun}
        return json.dumps(body, separators=(",", ":"))


def read_plan(text: str, layout: str) -> Plan:
    """The plan in a commit's metadata; an empty one if it has none, or one for other settings."""
    try:
        body: Any = json.loads(text)
        planned = [Planned(*map(int, each)) for each in body["planned"]]
        begun = None if body["begun"] is None else Begun(*map(int, body["begun"]))
        return Plan(layout, planned, begun) if body["layout"] == layout else Plan(layout)
    except (ValueError, KeyError, TypeError):
        return Plan(layout)
