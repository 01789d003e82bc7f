"""The kinds of records that every transform is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transform_differential.cases import (
    EVERY,
    FULL,
    MAPS,
    ODD,
    SPARSE,
    STRING,
    Case,
    optional,
)


def both(name: str, config: dict[str, str], title: str, **more: Any) -> Iterator[Case]:
    """The same records as value and as key."""
    values, schema = more.pop("values"), more.pop("value_schema", None)
    yield Case(f"{title} (value)", f"{name}$Value", config, values, schema, **more)
    others = [{"left": "alone"} if value is not None else None for value in values]
    yield Case(
        f"{title} (key)",
        f"{name}$Key",
        config,
        others,
        None,
        keys=values,
        key_schema=schema,
        **more,
    )


def everything(name: str, config: dict[str, str], title: str, **more: Any) -> Iterator[Case]:
    """Structs, structs that may be null, maps, other values, nulls, and mixtures."""
    yield from both(
        name, config, f"{title}: structs", values=[FULL, SPARSE], value_schema=EVERY, **more
    )
    yield from both(
        name,
        config,
        f"{title}: structs and nulls",
        values=[None, FULL, None, SPARSE, None],
        value_schema=EVERY,
        **more,
    )
    yield from both(
        name,
        config,
        f"{title}: optional structs and nulls",
        values=[FULL, None, SPARSE],
        value_schema=optional(EVERY),
        **more,
    )
    yield from both(name, config, f"{title}: maps", values=MAPS, **more)
    yield from both(
        name, config, f"{title}: maps and others", values=[*MAPS, *ODD, MAPS[0]], **more
    )
    yield from both(name, config, f"{title}: nulls", values=[None, None], **more)
    yield from both(
        name, config, f"{title}: strings", values=["a", None, "b"], value_schema=STRING, **more
    )
    yield from both(
        name,
        config,
        f"{title}: optional strings",
        values=["a", None],
        value_schema=optional(STRING),
        **more,
    )
