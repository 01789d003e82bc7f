"""Cases of transforms of headers."""

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


def headers() -> Iterator[Case]:
    some: tuple[list[tuple[str, str | None]], ...] = (
        [("a", "1"), ("b", "x"), ("a", "2")],
        [],
        [("c", None)],
    )
    for names in ("a", "a,b", "gone", "a,b,c"):
        yield Case(
            f"DropHeaders {names}",
            "DropHeaders",
            {"headers": names},
            [1, None, "x", 2],
            headers=some,
        )
    for literal in (
        "text",
        "5",
        "1.0",
        "1.5",
        "300",
        "70000",
        "5000000000",
        "99999999999999999999",
        "1e5",
        "1e400",
        "-7",
        "+7",
        "true",
        "TRUE",
        "false",
        "null",
        "2023-11-14",
        "10:00:00.000Z",
        "2023-11-14T22:13:20.123Z",
        "[1, 2,3]",
        '["a","b"]',
        "[1, 2.5]",
        '{"a": 1}',
        '{"a":1,"b":[true]}',
        "[]",
        "{}",
        '[1,"a"]',
        "[1,",
        "{a:b}",
        "a,b",
        "3.141592653589793",
        '"quoted"',
        "0.1",
        "1 2",
        "-",
        "é",
        "12:30",
        "2023-13-45",
        "1.",
        "12abc",
        "[1] x",
        '{"d": "2023-11-14"}',
        "[null]",
        "[1,null]",
        "0x10",
        "1_000",
        "a:b",
        "[a]",
        "0001",
        "1.50",
    ):
        yield Case(
            f"InsertHeader {literal}",
            "InsertHeader",
            {"header": "h", "value.literal": literal},
            [1, None],
            headers=some,
        )
    for config in (
        {"header": "", "value.literal": "x"},
        {"header": "h"},
        {"header": "h", "value.literal": ""},
    ):
        yield Case(f"InsertHeader {config}", "InsertHeader", config, [1])
    for operation in ("move", "copy"):
        for field in FULL:
            config = {"fields": field, "headers": "h", "operation": operation}
            yield Case(
                f"HeaderFrom {operation} {field}",
                "HeaderFrom$Value",
                config,
                [FULL, SPARSE],
                EVERY,
                headers=some,
            )
        for field in (*MAPS[0], "gone"):
            config = {"fields": field, "headers": "h", "operation": operation}
            yield Case(
                f"HeaderFrom {operation} {field} maps",
                "HeaderFrom$Value",
                config,
                MAPS[:2],
                headers=some,
            )
        config = {"fields": "s,i8", "headers": "one,two", "operation": operation}
        yield from everything("HeaderFrom", config, f"HeaderFrom {operation}", headers=some)
        config = {"fields": "gone", "headers": "h", "operation": operation}
        yield from both(
            "HeaderFrom", config, f"HeaderFrom {operation} gone", values=[FULL], value_schema=EVERY
        )
        config = {
            "fields": "defaulted",
            "headers": "h",
            "operation": operation,
            "replace.null.with.default": "false",
        }
        yield from both(
            "HeaderFrom",
            config,
            f"HeaderFrom {operation} default",
            values=[FULL, SPARSE],
            value_schema=EVERY,
        )
    yield Case(
        "HeaderFrom unequal",
        "HeaderFrom$Value",
        {"fields": "a,b", "headers": "h", "operation": "move"},
        [{}],
    )
    yield Case(
        "HeaderFrom no operation",
        "HeaderFrom$Value",
        {"fields": "a", "headers": "h", "operation": "x"},
        [{}],
    )
