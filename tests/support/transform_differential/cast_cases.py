"""Cases of Cast."""

from __future__ import annotations

from collections.abc import Iterator

from transform_differential.cases import (
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL,
    DOUBLE,
    EVERY,
    FLOAT,
    FULL,
    INT8,
    INT16,
    INT32,
    INT64,
    MAPS,
    ODD,
    SPARSE,
    STAMP,
    STRING,
    STRINGS,
    TIME,
    TIMESTAMP,
    Case,
    optional,
    struct,
)
from transform_differential.kinds_of_records import everything

TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
NUMBERS = (
    "0",
    "1",
    "-1",
    "+5",
    "007",
    "127",
    "128",
    "-129",
    "32768",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "1.5",
    "-1e3",
    " 1.5 ",
    "1.5f",
    "2d",
    ".5",
    "5.",
    "NaN",
    "Infinity",
    "1e400",
    "0x10",
    "",
    "abc",
    "true",
    "TRUE",
    "null",
    "\uff11",
)
DOUBLES = (
    0.0, 1.0, 0.1, -2.5, 127.9, 128.0, -129.4, 300.7, 1e7, 9999999.0, 0.001, 0.00099, 1.0e-5,
    123456789.125, 2147483648.5, -1e19, 1e300, 3.141592653589793, 1e16, 1.234e22,
)  # fmt: skip
LONGS = (0, 1, -1, 127, 128, -129, 32768, -32769, 2147483648, 9007199254740993, -(2**63), 2**63 - 1)


def casts() -> Iterator[Case]:
    for field in (f for f in FULL):
        for target in TYPES:
            yield Case(
                f"Cast {field} to {target}",
                "Cast$Value",
                {"spec": f"{field}:{target}"},
                [FULL, SPARSE],
                EVERY,
            )
    for target in TYPES:
        spec = {"spec": target}
        for name, schema, values in (
            ("strings", STRING, NUMBERS),
            ("doubles", DOUBLE, DOUBLES),
            ("floats", FLOAT, [v for v in DOUBLES if abs(v) < 1e30]),
            ("longs", INT64, LONGS),
            ("ints", INT32, [v for v in LONGS if abs(v) < 2**31]),
            ("shorts", INT16, [0, -5, 300]),
            ("bytes", INT8, [0, -128, 127]),
            ("booleans", BOOLEAN, [True, False]),
            ("binaries", BYTES, ["AAEC", ""]),
            ("decimals", DECIMAL, ["MDk=", "/w==", "AA=="]),
            ("dates", DATE, [0, 1, 19000, -1]),
            ("times", TIME, [0, 3_723_004]),
            ("timestamps", TIMESTAMP, [0, 5, STAMP, -5, 86_400_000]),
            ("lists", STRINGS, [["a"], []]),
            ("optional longs", optional(INT64), [5, None]),
            ("longs with a default", optional(INT64, default=300), [5, None]),
            ("named longs", {**INT64, "name": "a.b", "version": 3, "doc": "d"}, [5, 6]),
        ):
            yield Case(f"Cast whole {name} to {target}", "Cast$Value", spec, values, schema)
        yield Case(
            f"Cast whole schemaless to {target}",
            "Cast$Value",
            spec,
            [*ODD, *NUMBERS, *DOUBLES, *LONGS, {}],
        )
        names = ",".join(f"{name}:{target}" for name in "ifsbn")
        yield Case(f"Cast maps to {target}", "Cast$Value", {"spec": names}, MAPS[:1])
        yield Case(
            f"Cast missing to {target}", "Cast$Value", {"spec": f"gone:{target}"}, [*MAPS, None]
        )
    yield from everything("Cast", {"spec": "i32:string,maybe:int64,i:string"}, "Cast")
    yield from everything("Cast", {"spec": "list:string"}, "Cast a list")
    for replace in ("true", "false"):
        defaults = struct({"x": optional(INT64, default=3), "y": optional(STRING, default="9")})
        config = {"spec": "x:string", "replace.null.with.default": replace}
        yield Case(
            f"Cast with defaults, {replace}",
            "Cast$Value",
            config,
            [{"x": None, "y": None}, {"x": 1, "y": "2"}],
            defaults,
        )
    for text in (
        "",
        "int8,int16",
        "a:b",
        "a:bytes",
        "a:struct",
        "a:int8:x",
        "A:INT8",
        " a : int8 , b:string",
    ):
        yield Case(f"Cast spec [{text}]", "Cast$Value", {"spec": text}, [{"a": 1, "A": 2, "b": 3}])
