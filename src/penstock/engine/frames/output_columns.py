"""What ``build`` may return for a turn that ends in Kafka, and the columns that are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.engine.frames.errors import OutputError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

HEADERS = "array<struct<key:string,value:binary>>"
TAKEN: dict[str, tuple[str, ...]] = {
    "task": ("int",),
    "topic": ("string",),
    "key": ("binary", "string", "void"),
    "value": ("binary", "string", "void"),
    "partition": ("int", "void"),
    "timestamp": ("timestamp", "bigint", "void"),
    "headers": (HEADERS, "void"),
    "error": ("string", "void"),
}
"""The columns of output, and which types of Spark's they may have."""
MADE = {
    "task": "int",
    "topic": "string",
    "key": "binary",
    "value": "binary",
    "partition": "int",
    "timestamp": "bigint",
    "headers": HEADERS,
    "error": "string",
}
"""The types that they get."""
NEEDED = ("task", "topic", "value")


def output_columns(frame: DataFrame) -> DataFrame:
    """``frame`` with all columns of output; OutputError says what does not fit."""
    types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    for name in NEEDED:
        if name not in types:
            raise OutputError(f"build has to return a column {name}, as records has one")
    for name, found in types.items():
        _refuse_misfit(name, found)
    return frame.select(*(_column(frame, name, types.get(name)) for name in MADE))


def _refuse_misfit(name: str, found: str) -> None:
    if name not in TAKEN:
        raise OutputError(f"build may not return a column {name}: there are {', '.join(TAKEN)}")
    allowed = [each for each in TAKEN[name] if each != "void"]
    if found not in TAKEN[name]:
        raise OutputError(f"column {name} is {found}: it has to be {' or '.join(allowed)}")


def _column(frame: DataFrame, name: str, found: str | None) -> Column:
    from pyspark.sql import functions as sql

    if found is None:
        made = sql.lit(None).cast(MADE[name])
    elif found == "timestamp":
        made = sql.unix_millis(frame[name])
    elif found == MADE[name]:
        made = frame[name]
    else:
        made = frame[name].cast(MADE[name])
    return made.alias(name)
