"""Differences that are meant, each with its reason; docs/transforms.md lists the same."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from transform_differential.cases import Case


@dataclass(frozen=True)
class Known:
    """Cases by name, in which only the star has a meaning, and why their answers may differ."""

    names: tuple[str, ...]
    reason: str

    def covers(self, case: Case) -> bool:
        """Whether this is about ``case``."""
        escaped = [name.replace("[", "[[]").replace("?", "[?]") for name in self.names]
        return any(fnmatchcase(case.name, pattern) for pattern in escaped)


KNOWN = (
    Known(
        (
            "Cast ts to float32",
            "Cast whole strings to float32",
            "Cast whole doubles to float32",
            "Cast whole floats to float32",
            "Cast whole longs to float32",
            "Cast whole schemaless to float32",
            "Cast whole timestamps to float32",
            "Cast whole doubles to string",
            "Cast whole floats to string",
            "Cast whole schemaless to string",
        ),
        "A floating point number is written with as few digits as tell it apart, as Java does "
        "since version 19; Java 17 sometimes writes more. The number is the same.",
    ),
    Known(
        (
            "Cast whole dates to *",
            "Cast whole times to *",
            "Cast whole timestamps to *",
            "Cast whole decimals to *",
        ),
        "Kafka Connect keeps the name of the logical type on the new type, and no converter can "
        "write the record then. Here it is written as what it was cast to.",
    ),
    Known(
        ("SetSchemaMetadata *strings*", "SetSchemaMetadata list"),
        "Kafka Connect fails for every schema that is not a STRUCT (Cannot list fields on "
        "non-struct type). Here name and version are set on any schema.",
    ),
    Known(
        ("MaskField dec *",),
        "Kafka Connect masks a Decimal with a number of scale 0, or of the replacement's, which no "
        "converter can write unless it is the schema's. Here it has the scale of the schema.",
    ),
    Known(
        (
            "TimestampConverter schemaless longs to *",
            "TimestampConverter i to *: maps*",
        ),
        "Without a schema, Date, Time and Timestamp have no form in JSON, and Kafka Connect's "
        "converter fails. Here they are milliseconds since the epoch.",
    ),
    Known(
        (
            "TimestampConverter from [yyyy-MM-dd]",
            "TimestampConverter from schemaless [yyyy-MM-dd]",
        ),
        "Days before 15 October 1582 are in the Gregorian calendar here and in the Julian one in "
        "Java.",
    ),
    Known(
        (
            "TimestampConverter from [yyyyMMddHHmmss]",
            "TimestampConverter from schemaless [yyyyMMddHHmmss]",
        ),
        "In fields of digits that follow each other, Java reads a minus sign as part of a number: "
        "text in quite another format becomes some moment. Here it is an error.",
    ),
    Known(
        ("TimestampConverter from [u]", "TimestampConverter from schemaless [u]"),
        "The day of the week is not used to find a date.",
    ),
    Known(
        ("TimestampConverter longs to string in seconds",),
        "A year after 32767 is an error.",
    ),
    Known(
        ("TimestampRouter {'timestamp.format': 'b'}",),
        "A pattern that cannot be used is refused when the connector is configured, and not "
        "record by record.",
    ),
    Known(
        ("TopicNameMatches {'pattern': '*p{*",),
        "Classes of characters by their names in Unicode or POSIX, such as \\p{Lu}, are refused.",
    ),
)
