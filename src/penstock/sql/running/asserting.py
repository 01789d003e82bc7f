"""ASSERT: what is there compared with what should be, and told where they differ."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from penstock.sql.catalog.source import Source
from penstock.sql.errors import SqlError, StatementError
from penstock.sql.planning.spark_types import resolved
from penstock.sql.running import reading
from penstock.sql.running.home import Home
from penstock.sql.running.inserting import literal_row
from penstock.sql.running.results import Result, message
from penstock.sql.running.views import analysed, view
from penstock.sql.statements.asserts import AssertSource, AssertValues
from penstock.sql.statements.types import ColumnDef

PATIENCE_SECONDS = 20.0
"""How long a record may take that a query is still to write."""
LOOK_SECONDS = 0.2
Row = dict[str, Any]
Differences = list[tuple[str, Any, Any]]
"""What, how it should be, how it is."""


class AssertionDiffers(SqlError):  # noqa: N818 (a name that says what is the case)
    """What a test asserts is not so; the text shows the difference."""


@dataclass
class Asserter:
    """Asserts one thing after the other: each record is asserted once."""

    home: Home
    _seen: dict[str, int] = field(default_factory=dict)
    _read: dict[str, tuple[reading.Offsets, list[Row]]] = field(default_factory=dict)

    def source(self, statement: AssertSource) -> Result:
        """Whether a stream or table is as it says."""
        found = self.home.catalog.source(statement.name)
        wanted = resolved(statement.columns, self.home.catalog.types())
        told: Differences = [("kind", statement.kind.value, found.kind.value)]
        if wanted:
            told.append(("columns", _columns(wanted), _columns(found.columns)))
        told += [(key, value, _property(found, key)) for key, value in _given(statement)]
        _refuse(f"{found.name} is not as asserted", [each for each in told if each[1] != each[2]])
        return message(f"{found.kind.capitalize()} {found.name} is as asserted.")

    def values(self, statement: AssertValues) -> Result:
        """Whether the next record is as it says."""
        source = self.home.catalog.source(statement.source)
        names = statement.columns
        if statement.tombstone and not names:
            names = tuple(column.name for column in source.keys)
        wanted = literal_row(source, names, statement.row)
        number = self._seen.get(source.name, 0)
        row = self._row(source, number)
        self._seen[source.name] = number + 1
        what = f"record {number + 1} of {source.name} (topic {source.topic})"
        _refuse(f"{what} differs", _differences(statement, wanted, row))
        return message(f"{what[0].upper()}{what[1:]} is as asserted.")

    def _row(self, source: Source, number: int) -> Row:
        until = time.monotonic() + PATIENCE_SECONDS
        while len(rows := self._rows(source)) <= number:
            if time.monotonic() > until:
                count = f"{len(rows)} record{'' if len(rows) == 1 else 's'}"
                raise AssertionDiffers(
                    f"expected record {number + 1} of {source.name}, but topic {source.topic} "
                    f"has {count} only."
                )
            time.sleep(LOOK_SECONDS)
        return rows[number]

    def _rows(self, source: Source) -> list[Row]:
        """All records, by time; they are read again only when there are more."""
        ends = reading.ends(self.home.catalog.admin, source.topic)
        known = self._read.get(source.name)
        if known is None or known[0] != ends:
            known = self._read[source.name] = (ends, self._fetched(source, ends))
        return known[1]

    def _fetched(self, source: Source, ends: reading.Offsets) -> list[Row]:
        spark = self.home.spark()
        begin = reading.beginnings(self.home.catalog.admin, source.topic)
        view(self.home, spark, "asserted", source, (begin, ends), latest=False, tombstones=True)
        order = "ROWTIME, ROWPARTITION, ROWOFFSET" if len(ends) > 1 else "ROWOFFSET"
        found = analysed(spark, f"SELECT * FROM asserted ORDER BY {order}")  # noqa: S608 (no input)
        return [row.asDict(recursive=True) for row in found.collect()]


def _differences(statement: AssertValues, wanted: Row, row: Row) -> Differences:
    if statement.tombstone != row["TOMBSTONE"]:
        should, is_so = ("none", "some") if statement.tombstone else ("some", "none (a tombstone)")
        return [("value", should, is_so)]
    told = [(name, comparable(value), comparable(row[name])) for name, value in wanted.items()]
    return [each for each in told if each[1] != each[2]]


def comparable(value: Any) -> Any:
    """A value such that equal ones are equal, however they came."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [comparable(each) for each in value]
    if isinstance(value, datetime):
        return round(value.replace(tzinfo=UTC).timestamp() * 1000)
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return bytes(value) if isinstance(value, bytearray) else value
    return Decimal(str(value)).normalize()


def _columns(columns: Iterable[ColumnDef]) -> str:
    return ", ".join(f"{c.name} {c.type}{f' {c.role}' if c.role else ''}" for c in columns)


def _given(statement: AssertSource) -> list[tuple[str, str]]:
    return [(key.upper(), _case(key, value or "")) for key, value in statement.properties]


def _case(key: str, value: str) -> str:
    return value if key.upper() == "KAFKA_TOPIC" else value.upper()


def _property(source: Source, key: str) -> str:
    known = {
        "KAFKA_TOPIC": source.topic,
        "KEY_FORMAT": source.key_format,
        "VALUE_FORMAT": source.value_format,
        "TIMESTAMP": source.timestamp,
    }
    if key not in known:
        raise StatementError(f"ASSERT cannot look at {key}: there are {', '.join(known)}.")
    return known[key]


def _refuse(what: str, told: Differences) -> None:
    if told:
        lines = (f"\n    {name}: expected {_text(a)}, found {_text(b)}" for name, a, b in told)
        raise AssertionDiffers(f"{what}:{''.join(lines)}")


def _text(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)
