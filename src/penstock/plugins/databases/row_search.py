"""Which rows are new, and in what order they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from penstock.plugins.databases.table_offsets import RowOffset
from penstock.sdk.databases import Column, Dialect, Relation

_FOUND: Final = "penstock_rows"


@dataclass(frozen=True)
class RowSearch:
    """Finds rows behind an offset. ``times`` and ``number`` are the columns that the mode uses."""

    dialect: Dialect
    relation: Relation
    number: Column | None
    times: tuple[Column, ...]
    delay_ms: int = 0
    suffix: str = ""
    until: int | None = None
    """The last number to read; None for all."""

    def rows(self, offset: RowOffset, limit: int) -> tuple[str, list[Any]]:
        """A query for the next rows, in order, and its parameters.

        With times alone there may be more than ``limit``: rows of the same time belong together,
        since an offset cannot stand between them.
        """
        condition, parameters = self._condition(offset)
        cut = "" if self.number is None else f" LIMIT {limit}"
        if self.number is None:
            condition = f"({condition}) AND {self._time} <= {self._last_time(condition, limit)}"
        found = f"FROM {self.relation.sql} WHERE {condition} ORDER BY {self._order()}{cut}"
        if self._disguised:
            found = f"FROM (SELECT * {found}) AS {_FOUND} ORDER BY {self._order(f'{_FOUND}.')}"
        return f"SELECT {self.relation.selected} {found} {self.suffix}".rstrip(), parameters

    def exists(self, offset: RowOffset) -> tuple[str, list[Any]]:
        """A query for at most one row, and its parameters."""
        condition, parameters = self._condition(offset)
        return f"SELECT 1 AS one FROM {self.relation.sql} WHERE {condition} LIMIT 1", parameters

    def after(self, read: pa.Table, offset: RowOffset) -> RowOffset:
        """The offset of the last of the rows that ``rows`` found."""
        last = read.num_rows - 1
        if self.number is not None:
            value = read.column(self.number.name)[last].as_py()
            offset = replace(offset, incrementing=int(value))
        if self.times:
            values = [read.column(column.name)[last] for column in self.times]
            known = [(c, v) for c, v in zip(self.times, values, strict=True) if v.is_valid]
            offset = replace(offset, micros=self.dialect.time_micros(*known[0]))
        return offset

    @property
    def _disguised(self) -> bool:
        """Whether a column of the order is selected as something else, as a number as its text.

        Behind ORDER BY its name would mean what is selected.
        """
        columns = [*self.times, *([self.number] if self.number else [])]
        return any(column.expression != self.dialect.quote(column.name) for column in columns)

    @property
    def _time(self) -> str:
        return self._time_of("")

    def _time_of(self, prefix: str) -> str:
        names = [prefix + self.dialect.quote(column.name) for column in self.times]
        return names[0] if len(names) == 1 else f"COALESCE({', '.join(names)})"

    def _order(self, prefix: str = "") -> str:
        number = [prefix + self.dialect.quote(self.number.name)] if self.number else []
        return ", ".join([*([self._time_of(prefix)] if self.times else []), *number])

    def _condition(self, offset: RowOffset) -> tuple[str, list[Any]]:
        if not self.times:
            return self._after_number(offset)
        place = self.dialect.time_parameter(self.times[0], 1)
        young = f"{self._time} < {self.dialect.latest_time(self.times[0], self.delay_ms)}"
        if offset.micros is None:
            return young, []
        text = self.dialect.time_value(self.times[0], offset.micros)
        if self.number is None or offset.incrementing is None:
            return f"{self._time} > {place} AND {young}", [text]
        number = f"{self.dialect.quote(self.number.name)} > {self.dialect.parameter(2)}"
        later = f"({self._time} > {place} OR ({self._time} = {place} AND {number}))"
        return f"{later} AND {young}", [text, offset.incrementing]

    def _after_number(self, offset: RowOffset) -> tuple[str, list[Any]]:
        assert self.number is not None  # noqa: S101 (a mode has one of them)
        name = self.dialect.quote(self.number.name)
        if offset.incrementing is None:
            return f"{name} IS NOT NULL", []
        later = f"{name} > {self.dialect.parameter(1)}"
        if self.until is None:
            return later, [offset.incrementing]
        last = f"{name} <= {self.dialect.parameter(2)}"
        return f"{later} AND {last}", [offset.incrementing, self.until]

    def span(self) -> str:
        """A query for the least and the greatest number."""
        assert self.number is not None  # noqa: S101 (asked only with one)
        name = self.dialect.quote(self.number.name)
        return f"SELECT min({name}) AS low, max({name}) AS high FROM {self.relation.sql}"

    def _last_time(self, condition: str, limit: int) -> str:
        some = f"SELECT {self._time} AS t FROM {self.relation.sql} WHERE {condition}"
        return f"(SELECT max(t) FROM ({some} ORDER BY 1 LIMIT {limit}) AS penstock_times)"
