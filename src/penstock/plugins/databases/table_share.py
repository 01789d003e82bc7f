"""A task's share of the tables, as the connector's plan hands it over."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from penstock.plugins.databases.first_load import LoadRange, Merge
from penstock.sdk.databases import TableId

TABLES: Final = "penstock.tables"
"""The key, in a task's configuration, of its share."""


@dataclass(frozen=True)
class Work:
    """A table to read: as a whole, or one range of its first load, or after the end of that."""

    table: TableId
    part: LoadRange | None = None
    merge: Merge | None = None


def to_text(share: Iterable[Work]) -> str:
    """The value of ``TABLES``."""
    return json.dumps([_to_json(work) for work in share])


def from_text(text: str) -> list[Work]:
    """What ``to_text`` was given."""
    return [_from_json(each) for each in json.loads(text)]


def _to_json(work: Work) -> dict[str, Any]:
    made: dict[str, Any] = {"schema": work.table.schema, "table": work.table.table}
    if work.part is not None:
        made["part"] = asdict(work.part)
    if work.merge is not None:
        made["merge"] = {"high": work.merge.high, "ranges": list(work.merge.ranges)}
    return made


def _from_json(made: dict[str, Any]) -> Work:
    part, merge = made.get("part"), made.get("merge")
    return Work(
        TableId(made["schema"], made["table"]),
        None if part is None else LoadRange(**part),
        None if merge is None else Merge(**merge),
    )
