"""Cases of transforms that choose and rename fields."""

from __future__ import annotations

from collections.abc import Iterator

from transform_differential.cases import (
    DECIMAL,
    EVERY,
    FULL,
    INT32,
    MAPS,
    ODD,
    SPARSE,
    STAMP,
    STRING,
    STRINGS,
    TIMESTAMP,
    Case,
    optional,
    struct,
)
from transform_differential.kinds_of_records import both, everything

NESTED = struct(
    {
        "a": struct({"b": struct({"c": INT32}, name="c.Type"), "d": optional(STRING)}),
        "opt": optional(struct({"e": INT32, "f": optional(INT32, default=9)})),
        "dotted.name": STRING,
        "plain": STRING,
    },
    name="nested",
    version=2,
)
NESTS = [
    {"a": {"b": {"c": 1}, "d": "x"}, "opt": {"e": 5, "f": None}, "dotted.name": "n", "plain": "p"},
    {"a": {"b": {"c": 2}, "d": None}, "opt": None, "dotted.name": "m", "plain": "q"},
]


def fields() -> Iterator[Case]:
    yield from everything("ExtractField", {"field": "s"}, "ExtractField s")
    yield from everything("ExtractField", {"field": "inner"}, "ExtractField inner")
    yield from everything("ExtractField", {"field": "gone"}, "ExtractField gone")
    for path in (
        "a",
        "a.b",
        "a.b.c",
        "opt.e",
        "opt.f",
        "`dotted.name`",
        "dotted.name",
        "plain.x",
        "a.gone",
        "`a.b",
        "a.",
        ".a",
        "`a`.`b`",
    ):
        for version in ("V1", "V2"):
            config = {"field": path, "field.syntax.version": version}
            yield Case(
                f"ExtractField {path} {version}",
                "ExtractField$Value",
                config,
                [*NESTS, None],
                NESTED,
            )
            yield Case(
                f"ExtractField {path} {version} maps",
                "ExtractField$Value",
                config,
                [*NESTS, None, {}, {"a": 5}, {"a": None}],
            )
    for replace in ("true", "false"):
        config = {"field": "defaulted", "replace.null.with.default": replace}
        yield from both(
            "ExtractField",
            config,
            f"ExtractField default {replace}",
            values=[FULL, SPARSE, None],
            value_schema=EVERY,
        )
    yield from everything("HoistField", {"field": "line"}, "HoistField")
    for name, schema, values in (
        ("named", {**STRING, "name": "n", "version": 1}, ["a"]),
        ("timestamps", TIMESTAMP, [STAMP, None]),
        ("optional decimals", optional(DECIMAL), ["MDk=", None]),
    ):
        yield Case(f"HoistField {name}", "HoistField$Value", {"field": 'li"ne'}, values, schema)
    for config in (
        {"exclude": "i8,list,gone"},
        {"include": "i8,s,maybe,defaulted"},
        {"renames": "i8:small,s:text"},
        {"include": "i8,s,i", "exclude": "s", "renames": "i8:one,i:j"},
        {"renames": "i8:s"},
        {"include": "gone"},
        {"exclude": "s", "replace.null.with.default": "false"},
    ):
        yield from everything("ReplaceField", config, f"ReplaceField {config}")
    for renames in ("a", "a:b:c", ":b", "a:"):
        yield Case(
            f"ReplaceField renames {renames}",
            "ReplaceField$Value",
            {"renames": renames},
            [{"a": 1}],
        )
    for config in (
        {"schema.name": "new.Name"},
        {"schema.version": "9"},
        {"schema.name": "n", "schema.version": "2"},
    ):
        yield from everything("SetSchemaMetadata", config, f"SetSchemaMetadata {config}")
    yield Case("SetSchemaMetadata with nothing", "SetSchemaMetadata$Value", {}, [{}])
    yield Case(
        "SetSchemaMetadata default kept",
        "SetSchemaMetadata$Value",
        {"schema.name": "n", "replace.null.with.default": "false"},
        [FULL, SPARSE],
        EVERY,
    )
    yield Case(
        "SetSchemaMetadata list",
        "SetSchemaMetadata$Value",
        {"schema.name": "n"},
        [["a"], None],
        optional(STRINGS),
    )


def flattenings() -> Iterator[Case]:
    for config in ({}, {"delimiter": "_"}, {"delimiter": ""}):
        yield from both(
            "Flatten", config, f"Flatten {config}", values=[*NESTS, None], value_schema=NESTED
        )
        yield from both(
            "Flatten",
            config,
            f"Flatten optional {config}",
            values=[*NESTS, None],
            value_schema=optional(NESTED),
        )
        yield from both("Flatten", config, f"Flatten maps {config}", values=[*NESTS, *MAPS, *ODD])
    yield from everything("Flatten", {}, "Flatten")
    lists = struct(
        {"in": struct({"l": STRINGS, "o": optional(STRINGS)}), "ts": TIMESTAMP, "d": DECIMAL}
    )
    yield Case(
        "Flatten lists",
        "Flatten$Value",
        {},
        [{"in": {"l": ["a"], "o": None}, "ts": STAMP, "d": "MDk="}],
        lists,
    )
    defaulted = struct({"in": struct({"x": optional(INT32, default=4), "y": INT32}, optional=True)})
    yield Case(
        "Flatten defaults",
        "Flatten$Value",
        {},
        [{"in": {"x": None, "y": 1}}, {"in": None}],
        defaulted,
    )
    clash = struct({"a": struct({"b": INT32}), "a.b": INT32})
    yield Case("Flatten clash", "Flatten$Value", {}, [{"a": {"b": 1}, "a.b": 2}], clash)
    yield Case(
        "Flatten maps with nulls", "Flatten$Value", {}, [{"n": None}, {"n": {"m": None}}, {"n": {}}]
    )
    yield Case("Flatten maps with lists", "Flatten$Value", {}, [{"n": [1]}, {"n": {"m": []}}])
