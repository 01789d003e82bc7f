"""Cases of InsertField and MaskField."""

from __future__ import annotations

from collections.abc import Iterator

from transform_differential.cases import (
    EVERY,
    FULL,
    MAPS,
    SPARSE,
    Case,
)
from transform_differential.kinds_of_records import both, everything


def insertions() -> Iterator[Case]:
    names = ("topic", "partition", "offset", "timestamp", "static")
    for name in names:
        for suffix in ("", "?", "!"):
            config = {f"{name}.field": f"added{suffix}"}
            if name == "static":
                config["static.value"] = "fixed"
            title = f"InsertField {name}{suffix}"
            yield from both(
                "InsertField", config, title, values=[FULL, SPARSE, None], value_schema=EVERY
            )
            yield from both("InsertField", config, f"{title}, maps", values=[*MAPS, None])
            yield from both(
                "InsertField",
                config,
                f"{title}, source",
                values=[FULL, SPARSE],
                value_schema=EVERY,
                sink=False,
                partitions=(None, 2),
                timestamps=(None, 5),
                topics=("a", "b"),
            )
            yield from both(
                "InsertField",
                config,
                f"{title}, source maps",
                values=MAPS,
                sink=False,
                partitions=(None, 2),
                timestamps=(None, 5),
                topics=("a", "b"),
            )
    every = {f"{name}.field": f"_{name}" for name in names} | {"static.value": "v"}
    yield from everything("InsertField", every, "InsertField all")
    yield from everything(
        "InsertField", {"static.field": "s", "static.value": "v"}, "InsertField there"
    )
    yield from everything("InsertField", {"static.field": "new"}, "InsertField without a value")
    yield from everything("InsertField", {}, "InsertField nothing")
    yield Case(
        "InsertField default kept",
        "InsertField$Value",
        {"topic.field": "t", "replace.null.with.default": "false"},
        [SPARSE],
        EVERY,
    )


def masks() -> Iterator[Case]:
    for field in FULL:
        for replacement in (None, "5", "3.7", "text", "300", "1e3", "NaN"):
            config = {"fields": field} | (
                {} if replacement is None else {"replacement": replacement}
            )
            yield Case(
                f"MaskField {field} {replacement}", "MaskField$Value", config, [FULL, SPARSE], EVERY
            )
    for replacement in (None, "5", "text"):
        config = {"fields": "i,f,s,gone"} | (
            {} if replacement is None else {"replacement": replacement}
        )
        yield from everything("MaskField", config, f"MaskField {replacement}")
        for field in MAPS[0]:
            yield Case(
                f"MaskField map {field} {replacement}",
                "MaskField$Value",
                {**config, "fields": field},
                MAPS,
            )
    yield Case(
        "MaskField default kept",
        "MaskField$Value",
        {"fields": "i8", "replace.null.with.default": "false"},
        [SPARSE],
        EVERY,
    )
    yield Case("MaskField nothing", "MaskField$Value", {"fields": ""}, [{}])
