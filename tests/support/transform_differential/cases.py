"""A case: a transform, perhaps with a predicate, and records of one schema to apply it to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PACKAGE = "org.apache.kafka.connect.transforms"
STAMP = 1_700_000_000_123


@dataclass(frozen=True, eq=False)
class Case:
    """Applied by both sides. ``name`` is unique; the schemas are JSON, None for schemaless."""

    name: str
    transform: str
    config: dict[str, str]
    values: Sequence[Any]
    value_schema: dict[str, Any] | None = None
    keys: Sequence[Any] = ()
    key_schema: dict[str, Any] | None = None
    sink: bool = True
    topics: Sequence[str] = ("topic",)
    timestamps: Sequence[int | None] = (STAMP,)
    partitions: Sequence[int | None] = (3,)
    headers: Sequence[list[tuple[str, str | None]]] = field(default_factory=lambda: ([],))
    predicate: str | None = None
    predicate_config: dict[str, str] = field(default_factory=dict)
    negate: bool = False

    def to_json(self) -> dict[str, Any]:
        """As the Java program reads it."""
        return {
            "class": f"{PACKAGE}.{self.transform}",
            "config": self.config,
            "predicate": self.predicate and f"{PACKAGE}.predicates.{self.predicate}",
            "predicateConfig": self.predicate_config,
            "negate": self.negate,
            "sink": self.sink,
            "keySchema": self.key_schema,
            "valueSchema": self.value_schema,
            "rows": [self.row(n) for n in range(len(self.values))],
        }

    def row(self, number: int) -> dict[str, Any]:
        """One record; what is given for fewer records than there are begins anew."""
        return {
            "key": self.keys[number % len(self.keys)] if self.keys else None,
            "value": self.values[number],
            "topic": self.topics[number % len(self.topics)],
            "partition": self.partitions[number % len(self.partitions)],
            "timestamp": self.timestamps[number % len(self.timestamps)],
            "offset": 100 + number,
            "headers": self.headers[number % len(self.headers)],
        }


def kind(type_: str, **more: Any) -> dict[str, Any]:
    """A schema."""
    return {"type": type_, "optional": False, **more}


def optional(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The same schema, but null is allowed."""
    return {**schema, "optional": True, **more}


def struct(fields: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A struct of fields."""
    listed = [{**schema, "field": name} for name, schema in fields.items()]
    return {"type": "struct", "optional": False, **more, "fields": listed}


_LOGICAL = "org.apache.kafka.connect.data."
INT8, INT16, INT32, INT64 = (kind(f"int{bits}") for bits in (8, 16, 32, 64))
FLOAT, DOUBLE, BOOLEAN, STRING, BYTES = map(kind, ("float", "double", "boolean", "string", "bytes"))
DATE = kind("int32", name=_LOGICAL + "Date", version=1)
TIME = kind("int32", name=_LOGICAL + "Time", version=1)
TIMESTAMP = kind("int64", name=_LOGICAL + "Timestamp", version=1)
DECIMAL = kind("bytes", name=_LOGICAL + "Decimal", version=1, parameters={"scale": "2"})
STRINGS = kind("array", items=STRING)
COUNTS = kind("map", keys=STRING, values=INT32)

EVERY = struct(
    {
        "i8": INT8,
        "i16": INT16,
        "i32": INT32,
        "i64": INT64,
        "f32": FLOAT,
        "f64": DOUBLE,
        "b": BOOLEAN,
        "s": STRING,
        "raw": BYTES,
        "date": DATE,
        "time": TIME,
        "ts": TIMESTAMP,
        "dec": DECIMAL,
        "list": STRINGS,
        "map": COUNTS,
        "inner": struct({"x": INT32, "y": optional(STRING)}, name="inner.Type"),
        "maybe": optional(INT32),
        "defaulted": optional(STRING, default="dflt"),
    },
    name="every.Type",
    version=7,
    doc="about it",
    parameters={"p": "q"},
)
FULL = {
    "i8": 1,
    "i16": 300,
    "i32": 70000,
    "i64": 5_000_000_000,
    "f32": 1.5,
    "f64": -2.25,
    "b": True,
    "s": "42",
    "raw": "AAEC",
    "date": 19000,
    "time": 3_723_004,
    "ts": STAMP,
    "dec": "MDk=",
    "list": ["a", "b"],
    "map": {"k": 1},
    "inner": {"x": 1, "y": "z"},
    "maybe": 5,
    "defaulted": "given",
}
SPARSE = {
    **FULL,
    "i8": -128,
    "i64": -1,
    "f32": -0.1,
    "f64": 1e20,
    "b": False,
    "s": "-7",
    "raw": "",
    "date": 0,
    "time": 0,
    "ts": 0,
    "dec": "/w==",
    "list": [],
    "map": {},
    "inner": {"x": 2, "y": None},
    "maybe": None,
    "defaulted": None,
}
MAPS = [
    {
        "i": 7,
        "f": 1.5,
        "s": "42",
        "b": True,
        "n": None,
        "list": [1, "a"],
        "inner": {"x": 1, "y": {"z": 2}},
    },
    {"i": -300, "f": 1e20, "s": "abc", "b": False, "inner": {}},
    {"s": "", "other": 1},
    {},
]
ODD = ["text", 5, 2.5, True, [1, 2], None]
"""Values without a schema that are no maps."""
