"""The cases: every transform, on structs, schemaless values, nulls and mixtures of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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

TYPES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
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
NUMBERS = (
    "0", "1", "-1", "+5", "007", "127", "128", "-129", "32768", "2147483648", "9223372036854775807",
    "9223372036854775808", "1.5", "-1e3", " 1.5 ", "1.5f", "2d", ".5", "5.", "NaN", "Infinity",
    "1e400", "0x10", "", "abc", "true", "TRUE", "null", "１",
)
DOUBLES = (
    0.0, 1.0, 0.1, -2.5, 127.9, 128.0, -129.4, 300.7, 1e7, 9999999.0, 0.001, 0.00099, 1.0e-5,
    123456789.125, 2147483648.5, -1e19, 1e300, 3.141592653589793, 1e16, 1.234e22,
)  # fmt: skip
LONGS = (0, 1, -1, 127, 128, -129, 32768, -32769, 2147483648, 9007199254740993, -(2**63), 2**63 - 1)


def both(name: str, config: dict[str, str], title: str, **more: Any) -> Iterator[Case]:
    """The same records as value and as key."""
    values, schema = more.pop("values"), more.pop("value_schema", None)
    yield Case(f"{title} (value)", f"{name}$Value", config, values, schema, **more)
    others = [{"left": "alone"} if value is not None else None for value in values]
    yield Case(
        f"{title} (key)", f"{name}$Key", config, others, None, keys=values, key_schema=schema, **more
    )


def everything(name: str, config: dict[str, str], title: str, **more: Any) -> Iterator[Case]:
    """Structs, structs that may be null, maps, other values, nulls, and mixtures."""
    yield from both(name, config, f"{title}: structs", values=[FULL, SPARSE], value_schema=EVERY, **more)
    yield from both(
        name, config, f"{title}: structs and nulls", values=[None, FULL, None, SPARSE, None],
        value_schema=EVERY, **more,
    )
    yield from both(
        name, config, f"{title}: optional structs and nulls", values=[FULL, None, SPARSE],
        value_schema=optional(EVERY), **more,
    )
    yield from both(name, config, f"{title}: maps", values=MAPS, **more)
    yield from both(name, config, f"{title}: maps and others", values=[*MAPS, *ODD, MAPS[0]], **more)
    yield from both(name, config, f"{title}: nulls", values=[None, None], **more)
    yield from both(name, config, f"{title}: strings", values=["a", None, "b"], value_schema=STRING, **more)
    yield from both(
        name, config, f"{title}: optional strings", values=["a", None], value_schema=optional(STRING), **more
    )


def casts() -> Iterator[Case]:
    for field in (f for f in FULL):
        for target in TYPES:
            yield Case(
                f"Cast {field} to {target}", "Cast$Value", {"spec": f"{field}:{target}"},
                [FULL, SPARSE], EVERY,
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
        yield Case(f"Cast whole schemaless to {target}", "Cast$Value", spec, [*ODD, *NUMBERS, *DOUBLES, *LONGS, {}])
        names = ",".join(f"{name}:{target}" for name in "ifsbn")
        yield Case(f"Cast maps to {target}", "Cast$Value", {"spec": names}, MAPS[:1])
        yield Case(f"Cast missing to {target}", "Cast$Value", {"spec": f"gone:{target}"}, [*MAPS, None])
    yield from everything("Cast", {"spec": "i32:string,maybe:int64,i:string"}, "Cast")
    yield from everything("Cast", {"spec": "list:string"}, "Cast a list")
    for replace in ("true", "false"):
        defaults = struct({"x": optional(INT64, default=3), "y": optional(STRING, default="9")})
        config = {"spec": "x:string", "replace.null.with.default": replace}
        yield Case(f"Cast with defaults, {replace}", "Cast$Value", config, [{"x": None, "y": None}, {"x": 1, "y": "2"}], defaults)
    for spec in ("", "int8,int16", "a:b", "a:bytes", "a:struct", "a:int8:x", "A:INT8", " a : int8 , b:string"):
        yield Case(f"Cast spec [{spec}]", "Cast$Value", {"spec": spec}, [{"a": 1, "A": 2, "b": 3}])


def fields() -> Iterator[Case]:
    yield from everything("ExtractField", {"field": "s"}, "ExtractField s")
    yield from everything("ExtractField", {"field": "inner"}, "ExtractField inner")
    yield from everything("ExtractField", {"field": "gone"}, "ExtractField gone")
    for path in ("a", "a.b", "a.b.c", "opt.e", "opt.f", "`dotted.name`", "dotted.name", "plain.x", "a.gone", "`a.b", "a.", ".a", "`a`.`b`"):
        for version in ("V1", "V2"):
            config = {"field": path, "field.syntax.version": version}
            yield Case(f"ExtractField {path} {version}", "ExtractField$Value", config, [*NESTS, None], NESTED)
            yield Case(f"ExtractField {path} {version} maps", "ExtractField$Value", config, [*NESTS, None, {}, {"a": 5}, {"a": None}])
    for replace in ("true", "false"):
        config = {"field": "defaulted", "replace.null.with.default": replace}
        yield from both("ExtractField", config, f"ExtractField default {replace}", values=[FULL, SPARSE, None], value_schema=EVERY)
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
        yield Case(f"ReplaceField renames {renames}", "ReplaceField$Value", {"renames": renames}, [{"a": 1}])
    for config in ({"schema.name": "new.Name"}, {"schema.version": "9"}, {"schema.name": "n", "schema.version": "2"}):
        yield from everything("SetSchemaMetadata", config, f"SetSchemaMetadata {config}")
    yield Case("SetSchemaMetadata with nothing", "SetSchemaMetadata$Value", {}, [{}])
    yield Case("SetSchemaMetadata default kept", "SetSchemaMetadata$Value", {"schema.name": "n", "replace.null.with.default": "false"}, [FULL, SPARSE], EVERY)
    yield Case("SetSchemaMetadata list", "SetSchemaMetadata$Value", {"schema.name": "n"}, [["a"], None], optional(STRINGS))


def insertions() -> Iterator[Case]:
    names = ("topic", "partition", "offset", "timestamp", "static")
    for name in names:
        for suffix in ("", "?", "!"):
            config = {f"{name}.field": f"added{suffix}"}
            if name == "static":
                config["static.value"] = "fixed"
            title = f"InsertField {name}{suffix}"
            yield from both("InsertField", config, title, values=[FULL, SPARSE, None], value_schema=EVERY)
            yield from both("InsertField", config, f"{title}, maps", values=[*MAPS, None])
            yield from both(
                "InsertField", config, f"{title}, source", values=[FULL, SPARSE], value_schema=EVERY,
                sink=False, partitions=(None, 2), timestamps=(None, 5), topics=("a", "b"),
            )
            yield from both(
                "InsertField", config, f"{title}, source maps", values=MAPS, sink=False,
                partitions=(None, 2), timestamps=(None, 5), topics=("a", "b"),
            )
    every = {f"{name}.field": f"_{name}" for name in names} | {"static.value": "v"}
    yield from everything("InsertField", every, "InsertField all")
    yield from everything("InsertField", {"static.field": "s", "static.value": "v"}, "InsertField there")
    yield from everything("InsertField", {"static.field": "new"}, "InsertField without a value")
    yield from everything("InsertField", {}, "InsertField nothing")
    yield Case("InsertField default kept", "InsertField$Value", {"topic.field": "t", "replace.null.with.default": "false"}, [SPARSE], EVERY)


def masks() -> Iterator[Case]:
    for field in FULL:
        for replacement in (None, "5", "3.7", "text", "300", "1e3", "NaN"):
            config = {"fields": field} | ({} if replacement is None else {"replacement": replacement})
            yield Case(f"MaskField {field} {replacement}", "MaskField$Value", config, [FULL, SPARSE], EVERY)
    for replacement in (None, "5", "text"):
        config = {"fields": "i,f,s,gone"} | ({} if replacement is None else {"replacement": replacement})
        yield from everything("MaskField", config, f"MaskField {replacement}")
        for field in MAPS[0]:
            yield Case(f"MaskField map {field} {replacement}", "MaskField$Value", {**config, "fields": field}, MAPS)
    yield Case("MaskField default kept", "MaskField$Value", {"fields": "i8", "replace.null.with.default": "false"}, [SPARSE], EVERY)
    yield Case("MaskField nothing", "MaskField$Value", {"fields": ""}, [{}])


def flattenings() -> Iterator[Case]:
    for config in ({}, {"delimiter": "_"}, {"delimiter": ""}):
        yield from both("Flatten", config, f"Flatten {config}", values=[*NESTS, None], value_schema=NESTED)
        yield from both("Flatten", config, f"Flatten optional {config}", values=[*NESTS, None], value_schema=optional(NESTED))
        yield from both("Flatten", config, f"Flatten maps {config}", values=[*NESTS, *MAPS, *ODD])
    yield from everything("Flatten", {}, "Flatten")
    lists = struct({"in": struct({"l": STRINGS, "o": optional(STRINGS)}), "ts": TIMESTAMP, "d": DECIMAL})
    yield Case("Flatten lists", "Flatten$Value", {}, [{"in": {"l": ["a"], "o": None}, "ts": STAMP, "d": "MDk="}], lists)
    defaulted = struct({"in": struct({"x": optional(INT32, default=4), "y": INT32}, optional=True)})
    yield Case("Flatten defaults", "Flatten$Value", {}, [{"in": {"x": None, "y": 1}}, {"in": None}], defaulted)
    clash = struct({"a": struct({"b": INT32}), "a.b": INT32})
    yield Case("Flatten clash", "Flatten$Value", {}, [{"a": {"b": 1}, "a.b": 2}], clash)
    yield Case("Flatten maps with nulls", "Flatten$Value", {}, [{"n": None}, {"n": {"m": None}}, {"n": {}}])
    yield Case("Flatten maps with lists", "Flatten$Value", {}, [{"n": [1]}, {"n": {"m": []}}])


def headers() -> Iterator[Case]:
    some = ([("a", "1"), ("b", "x"), ("a", "2")], [], [("c", None)])
    for names in ("a", "a,b", "gone", "a,b,c"):
        yield Case(f"DropHeaders {names}", "DropHeaders", {"headers": names}, [1, None, "x", 2], headers=some)
    for literal in (
        "text", "5", "1.0", "1.5", "300", "70000", "5000000000", "99999999999999999999", "1e5", "1e400", "-7", "+7",
        "true", "TRUE", "false", "null", "2023-11-14", "10:00:00.000Z", "2023-11-14T22:13:20.123Z", "[1, 2,3]",
        '["a","b"]', "[1, 2.5]", '{"a": 1}', '{"a":1,"b":[true]}', "[]", "{}", '[1,"a"]', "[1,", "{a:b}", "a,b",
        "3.141592653589793", '"quoted"', "0.1", "1 2", "-", "é", "12:30", "2023-13-45", "1.", "12abc", "[1] x",
        '{"d": "2023-11-14"}', "[null]", "[1,null]", "0x10", "1_000", "a:b", "[a]", "0001", "1.50",
    ):  # fmt: skip
        yield Case(f"InsertHeader {literal}", "InsertHeader", {"header": "h", "value.literal": literal}, [1, None], headers=some)
    for config in ({"header": "", "value.literal": "x"}, {"header": "h"}, {"header": "h", "value.literal": ""}):
        yield Case(f"InsertHeader {config}", "InsertHeader", config, [1])
    for operation in ("move", "copy"):
        for field in FULL:
            config = {"fields": field, "headers": "h", "operation": operation}
            yield Case(f"HeaderFrom {operation} {field}", "HeaderFrom$Value", config, [FULL, SPARSE], EVERY, headers=some)
        for field in (*MAPS[0], "gone"):
            config = {"fields": field, "headers": "h", "operation": operation}
            yield Case(f"HeaderFrom {operation} {field} maps", "HeaderFrom$Value", config, MAPS[:2], headers=some)
        config = {"fields": "s,i8", "headers": "one,two", "operation": operation}
        yield from everything("HeaderFrom", config, f"HeaderFrom {operation}", headers=some)
        config = {"fields": "gone", "headers": "h", "operation": operation}
        yield from both("HeaderFrom", config, f"HeaderFrom {operation} gone", values=[FULL], value_schema=EVERY)
        config = {"fields": "defaulted", "headers": "h", "operation": operation, "replace.null.with.default": "false"}
        yield from both("HeaderFrom", config, f"HeaderFrom {operation} default", values=[FULL, SPARSE], value_schema=EVERY)
    yield Case("HeaderFrom unequal", "HeaderFrom$Value", {"fields": "a,b", "headers": "h", "operation": "move"}, [{}])
    yield Case("HeaderFrom no operation", "HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "x"}, [{}])


FORMATS = (
    "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "yyyy-MM-dd", "yyyyMMddHHmmss", "dd MMM yyyy HH:mm:ss z", "EEE, d MMM yy",
    "EEEE MMMM d", "hh:mm a", "K:mm", "k", "D", "yyyy-MM-dd HH:mm:ss Z", "yyyy-MM-dd'T'HH:mm:ssXXX", "H''mm",
    "yyyy G", "S", "SSSSSS", "u",
)  # fmt: skip
MOMENTS = (0, STAMP, 1, -1, 86_400_000, 951_782_400_000, 1_582_934_400_000, 4_102_444_800_000)
TEXTS = (
    "2023-11-14T22:13:20.123Z", "2023-11-14", "20231114221320", "14 Nov 2023 22:13:20 UTC", "Tue, 14 Nov 23",
    "2023-13-45", "2023-1-2", " 2023-01-02", "2023-01-02 junk", "junk", "", "2023-11-14 22:13:20 +0130",
    "2023-11-14T22:13:20+01:30", "2023-11-14T22:13:20Z", "14 nov 2023 22:13:20 GMT+01:00", "10:30 PM", "12:00 AM",
    "23-11-14", "99-11-14", "5",
)  # fmt: skip


def moments() -> Iterator[Case]:
    targets = ("string", "unix", "Date", "Time", "Timestamp")
    for target in targets:
        base = {"target.type": target} | ({"format": FORMATS[0]} if target == "string" else {})
        for name, schema in (("dates", DATE), ("times", TIME), ("timestamps", TIMESTAMP), ("longs", INT64)):
            values = [0, 19000] if name == "dates" else [0, 3_723_004] if name == "times" else MOMENTS
            for precision in ("seconds", "milliseconds", "microseconds", "nanoseconds"):
                config = {**base, "unix.precision": precision}
                title = f"TimestampConverter {name} to {target} in {precision}"
                yield Case(title, "TimestampConverter$Value", config, values, schema)
        yield Case(f"TimestampConverter schemaless longs to {target}", "TimestampConverter$Value", base, [*MOMENTS, None, 2.5, True, [1], {}])
        yield from everything("TimestampConverter", {**base, "field": "ts"}, f"TimestampConverter ts to {target}")
        yield from everything("TimestampConverter", {**base, "field": "i64"}, f"TimestampConverter i64 to {target}")
        yield from everything("TimestampConverter", {**base, "field": "gone"}, f"TimestampConverter gone to {target}")
        yield from everything("TimestampConverter", {**base, "field": "i"}, f"TimestampConverter i to {target}")
        yield from both("TimestampConverter", {**base, "field": "list"}, f"TimestampConverter list to {target}", values=[FULL], value_schema=EVERY)
        yield from both("TimestampConverter", base, f"TimestampConverter optional to {target}", values=[STAMP, None], value_schema=optional(TIMESTAMP))
        yield Case(f"TimestampConverter default to {target}", "TimestampConverter$Value", {**base, "field": "t"}, [{"t": None}, {"t": 5}], struct({"t": optional(INT64, default=7)}))
    for pattern in FORMATS:
        config = {"target.type": "string", "format": pattern}
        yield Case(f"TimestampConverter to [{pattern}]", "TimestampConverter$Value", config, MOMENTS, TIMESTAMP)
        config = {"target.type": "unix", "format": pattern}
        yield Case(f"TimestampConverter from [{pattern}]", "TimestampConverter$Value", config, TEXTS, STRING)
        yield Case(f"TimestampConverter from schemaless [{pattern}]", "TimestampConverter$Value", config, TEXTS)
    for config in ({"target.type": "string"}, {"target.type": "x"}, {"target.type": "unix", "format": "q"}, {"target.type": "unix", "format": "'a"}, {"target.type": "unix", "unix.precision": "x"}):
        yield Case(f"TimestampConverter {config}", "TimestampConverter$Value", config, [5], INT64)
    yield Case("TimestampConverter without a format", "TimestampConverter$Value", {"target.type": "unix"}, ["2023"], STRING)


def routes() -> Iterator[Case]:
    more: dict[str, Any] = {"topics": ("a", "b"), "timestamps": (STAMP, 0, None, STAMP)}
    for config in (
        {}, {"topic.format": "x"}, {"topic.format": "${timestamp}/${topic}/${timestamp}"}, {"topic.format": "$topic${topic}"},
        {"timestamp.format": "yyyy-'Q'MM"}, {"timestamp.format": "HHmm"}, {"timestamp.format": "b"},
    ):  # fmt: skip
        yield Case(f"TimestampRouter {config}", "TimestampRouter", config, [1, 2, 3, None], **more)
    for regex, replacement in (("(.*)", "x-$1"), ("a", "z"), ("(a)|(b)", "$1-$2"), ("[ab]", "same")):
        yield Case(f"RegexRouter {regex}", "RegexRouter", {"regex": regex, "replacement": replacement}, [1, 2], **more)
    yield Case("Filter", "Filter", {}, [1, None, {}])
    for config in ({"fields": "i8,s"}, {"fields": "defaulted"}, {"fields": "defaulted", "replace.null.with.default": "false"}, {"fields": "gone"}, {"fields": "inner,ts"}, {"fields": "i"}, {"fields": ""}):
        title = f"ValueToKey {config}"
        for name, schema, values in (
            ("structs", EVERY, [FULL, SPARSE]),
            ("structs and nulls", EVERY, [FULL, None]),
            ("optional structs", optional(EVERY), [None, FULL]),
            ("maps", None, MAPS),
            ("others", None, [*ODD, MAPS[0]]),
            ("strings", STRING, ["a"]),
        ):
            yield Case(f"{title}: {name}", "ValueToKey", config, values, schema, keys=["old"], key_schema=STRING)


def catalogue() -> list[Case]:
    """All cases, each under a name of its own."""
    made = [
        *casts(), *fields(), *insertions(), *masks(), *flattenings(), *headers(), *moments(), *routes()
    ]  # fmt: skip
    return list({case.name: case for case in made}.values())
