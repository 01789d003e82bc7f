"""Cases of transforms of times and topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transform_differential.cases import (
    DATE,
    EVERY,
    FULL,
    INT64,
    MAPS,
    ODD,
    SPARSE,
    STAMP,
    STRING,
    TIME,
    TIMESTAMP,
    Case,
    optional,
    struct,
)
from transform_differential.kinds_of_records import both, everything

FORMATS = (
    "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'",
    "yyyy-MM-dd",
    "yyyyMMddHHmmss",
    "dd MMM yyyy HH:mm:ss z",
    "EEE, d MMM yy",
    "EEEE MMMM d",
    "hh:mm a",
    "K:mm",
    "k",
    "D",
    "yyyy-MM-dd HH:mm:ss Z",
    "yyyy-MM-dd'T'HH:mm:ssXXX",
    "H''mm",
    "yyyy G",
    "S",
    "SSSSSS",
    "u",
)
MOMENTS = (0, STAMP, 1, -1, 86_400_000, 951_782_400_000, 1_582_934_400_000, 4_102_444_800_000)
TEXTS = (
    "2023-11-14T22:13:20.123Z",
    "2023-11-14",
    "20231114221320",
    "14 Nov 2023 22:13:20 UTC",
    "Tue, 14 Nov 23",
    "2023-13-45",
    "2023-1-2",
    " 2023-01-02",
    "2023-01-02 junk",
    "junk",
    "",
    "2023-11-14 22:13:20 +0130",
    "2023-11-14T22:13:20+01:30",
    "2023-11-14T22:13:20Z",
    "14 nov 2023 22:13:20 GMT+01:00",
    "10:30 PM",
    "12:00 AM",
    "23-11-14",
    "99-11-14",
    "5",
)


def moments() -> Iterator[Case]:
    targets = ("string", "unix", "Date", "Time", "Timestamp")
    for target in targets:
        base = {"target.type": target} | ({"format": FORMATS[0]} if target == "string" else {})
        for name, schema in (
            ("dates", DATE),
            ("times", TIME),
            ("timestamps", TIMESTAMP),
            ("longs", INT64),
        ):
            values = (
                [0, 19000] if name == "dates" else [0, 3_723_004] if name == "times" else MOMENTS
            )
            for precision in ("seconds", "milliseconds", "microseconds", "nanoseconds"):
                config = {**base, "unix.precision": precision}
                title = f"TimestampConverter {name} to {target} in {precision}"
                yield Case(title, "TimestampConverter$Value", config, values, schema)
        yield Case(
            f"TimestampConverter schemaless longs to {target}",
            "TimestampConverter$Value",
            base,
            [*MOMENTS, None, 2.5, True, [1], {}],
        )
        yield from everything(
            "TimestampConverter", {**base, "field": "ts"}, f"TimestampConverter ts to {target}"
        )
        yield from everything(
            "TimestampConverter", {**base, "field": "i64"}, f"TimestampConverter i64 to {target}"
        )
        yield from everything(
            "TimestampConverter", {**base, "field": "gone"}, f"TimestampConverter gone to {target}"
        )
        yield from everything(
            "TimestampConverter", {**base, "field": "i"}, f"TimestampConverter i to {target}"
        )
        yield from both(
            "TimestampConverter",
            {**base, "field": "list"},
            f"TimestampConverter list to {target}",
            values=[FULL],
            value_schema=EVERY,
        )
        yield from both(
            "TimestampConverter",
            base,
            f"TimestampConverter optional to {target}",
            values=[STAMP, None],
            value_schema=optional(TIMESTAMP),
        )
        yield Case(
            f"TimestampConverter default to {target}",
            "TimestampConverter$Value",
            {**base, "field": "t"},
            [{"t": None}, {"t": 5}],
            struct({"t": optional(INT64, default=7)}),
        )
    for pattern in FORMATS:
        config = {"target.type": "string", "format": pattern}
        yield Case(
            f"TimestampConverter to [{pattern}]",
            "TimestampConverter$Value",
            config,
            MOMENTS,
            TIMESTAMP,
        )
        config = {"target.type": "unix", "format": pattern}
        yield Case(
            f"TimestampConverter from [{pattern}]",
            "TimestampConverter$Value",
            config,
            TEXTS,
            STRING,
        )
        yield Case(
            f"TimestampConverter from schemaless [{pattern}]",
            "TimestampConverter$Value",
            config,
            TEXTS,
        )
    for config in (
        {"target.type": "string"},
        {"target.type": "x"},
        {"target.type": "unix", "format": "q"},
        {"target.type": "unix", "format": "'a"},
        {"target.type": "unix", "unix.precision": "x"},
    ):
        yield Case(f"TimestampConverter {config}", "TimestampConverter$Value", config, [5], INT64)
    yield Case(
        "TimestampConverter without a format",
        "TimestampConverter$Value",
        {"target.type": "unix"},
        ["2023"],
        STRING,
    )


def routes() -> Iterator[Case]:
    more: dict[str, Any] = {"topics": ("a", "b"), "timestamps": (STAMP, 0, None, STAMP)}
    for config in (
        {},
        {"topic.format": "x"},
        {"topic.format": "${timestamp}/${topic}/${timestamp}"},
        {"topic.format": "$topic${topic}"},
        {"timestamp.format": "yyyy-'Q'MM"},
        {"timestamp.format": "HHmm"},
        {"timestamp.format": "b"},
    ):
        yield Case(f"TimestampRouter {config}", "TimestampRouter", config, [1, 2, 3, None], **more)
    for regex, replacement in (
        ("(.*)", "x-$1"),
        ("a", "z"),
        ("(a)|(b)", "$1-$2"),
        ("[ab]", "same"),
    ):
        yield Case(
            f"RegexRouter {regex}",
            "RegexRouter",
            {"regex": regex, "replacement": replacement},
            [1, 2],
            **more,
        )
    yield Case("Filter", "Filter", {}, [1, None, {}])
    for config in (
        {"fields": "i8,s"},
        {"fields": "defaulted"},
        {"fields": "defaulted", "replace.null.with.default": "false"},
        {"fields": "gone"},
        {"fields": "inner,ts"},
        {"fields": "i"},
        {"fields": ""},
    ):
        title = f"ValueToKey {config}"
        for name, schema, values in (
            ("structs", EVERY, [FULL, SPARSE]),
            ("structs and nulls", EVERY, [FULL, None]),
            ("optional structs", optional(EVERY), [None, FULL]),
            ("maps", None, MAPS),
            ("others", None, [*ODD, MAPS[0]]),
            ("strings", STRING, ["a"]),
        ):
            yield Case(
                f"{title}: {name}",
                "ValueToKey",
                config,
                values,
                schema,
                keys=["old"],
                key_schema=STRING,
            )
