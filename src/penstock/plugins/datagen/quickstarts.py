"""The schemas that are built in: those of the ksqlDB quickstart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Quickstart:
    """An Avro schema, and the field that is the key."""

    schema: Mapping[str, Any]
    key_field: str


def _text(**how: Any) -> dict[str, Any]:
    return {"type": "string", "arg.properties": how}


def _record(name: str, **fields: Any) -> dict[str, Any]:
    listed = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "namespace": "ksql", "name": name, "fields": listed}


_USER: Final = _text(regex="User_[1-9]")

QUICKSTARTS: Final[Mapping[str, Quickstart]] = {
    "pageviews": Quickstart(
        _record(
            "pageviews",
            viewtime={"type": "long", "arg.properties": {"iteration": {"start": 1, "step": 10}}},
            userid=_USER,
            pageid=_text(regex="Page_[1-9][0-9]"),
        ),
        "viewtime",
    ),
    "users": Quickstart(
        _record(
            "users",
            registertime={
                "type": "long",
                "arg.properties": {"range": {"min": 1487715775521, "max": 1519273364600}},
            },
            userid=_USER,
            regionid=_text(regex="Region_[1-9]"),
            gender=_text(options=["MALE", "FEMALE", "OTHER"]),
        ),
        "userid",
    ),
}
