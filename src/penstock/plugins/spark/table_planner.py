"""What a turn reads of a database: rows of a table or query, up to a bound that is fixed first."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.plugins.databases.table_offsets import (
    QUERY_PARTITION,
    BulkOffset,
    RowOffset,
    table_partition,
)
from penstock.plugins.spark.file_frames import explained, own_session
from penstock.plugins.spark.row_reading import NUMBER, TIME, OrderedReading, WholeReading
from penstock.plugins.spark.row_records import (
    RowRecords,
    record_frame,
    refuse_unless_one_to_one,
    selected,
)
from penstock.plugins.spark.source_config import (
    DELAY,
    INCREMENTING,
    LIST_INTERVAL,
    MODE,
    SELECT,
    TIMESTAMP,
    TOPIC,
    format_options,
    record_columns,
)
from penstock.sdk.databases import TableId
from penstock.sdk.errors import ConfigError
from penstock.sdk.frame_sources import FrameShare, SourceTurn
from penstock.sdk.offsets import SourcePartition
from penstock.sdk.sql_expressions import expressions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FETCH: Final = "10000"
FIRST_WIDTH, MOST_ROWS, FEW_ROWS = 1_000_000, 2_000_000, 500_000
"""Numbers of a turn; it spans more of them next time if these were few rows, and fewer if many."""
WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
ALIAS: Final = "penstock_rows"


class TablePlanner:
    """Plans the turns of one connector, whose one task reads one table or query."""

    def __init__(self, config: Mapping[str, str], values: Mapping[str, Any]) -> None:
        self._values = values
        options = format_options(config)
        self._query = options.pop("query", "")
        self._table = options.pop("dbtable", "")
        self._options = {"fetchsize": FETCH, **options}
        self._select = expressions(SELECT, values[SELECT])
        self._columns = record_columns(values)
        self._records = RowRecords(values[TOPIC])
        self._session: tuple[Any, Any] = None, None
        self._width = FIRST_WIDTH
        self._due = 0.0
        self._more = False

    @property
    def partition(self) -> SourcePartition:
        """The only source partition: as the JDBC source has it."""
        if self._query:
            return QUERY_PARTITION
        return table_partition_of(self._table)

    def is_due(self) -> bool:
        """Whether it is time to ask, or more is known to be there."""
        return time.monotonic() >= self._due

    def failed(self, text: str) -> bool:
        """Nothing can be left out of a table."""
        return False

    def turned(self, records: int) -> None:
        """A turn has ended well, with so many records."""
        if self._more and records < FEW_ROWS:
            self._width *= 2
        elif records > MOST_ROWS:
            self._width = max(1, self._width // 2)

    def plan(self, spark: Any, turn: SourceTurn) -> list[FrameShare]:
        """The share of the one task; none if there is nothing new."""
        self._due = time.monotonic() + self._values[LIST_INTERVAL] / 1000
        if not turn.tasks:
            return []
        offset = turn.offsets.get(self.partition)
        if self._values[MODE] == "bulk":
            return self._bulk(spark, turn.tasks[0], BulkOffset.of(offset))
        known = RowOffset.of(offset)
        bound = self._bound(spark, known)
        if bound is None:
            return []
        with explained("jdbc"):
            rows = self._rows(spark, self._relation)
            order = self._order(rows)
            rows = rows.where(self._after(rows, known)).where(self._up_to(rows, bound))
            rows = rows.coalesce(1).sortWithinPartitions(*order.values())
            frame = self._frame(rows, order)
        if self._more:
            self._due = 0.0
        # By both, only a row says where the numbers of its time are.
        last = None if len(order) > 1 else bound.to_json()
        reading = OrderedReading(self.partition, last, self._records)
        about = f"{self._table or 'the query'} up to {bound.to_json()}"
        return [FrameShare(turn.tasks[0], reading, frame, about)]

    def _bulk(self, spark: Any, task: int, offset: BulkOffset) -> list[FrameShare]:
        now = int(time.time() * 1000)
        if offset.done and now - offset.started < self._values[LIST_INTERVAL]:
            return []
        with explained("jdbc"):
            frame = self._frame(self._rows(spark, self._relation), {})
        done = BulkOffset(now, 0, done=True).to_json()
        return [FrameShare(task, WholeReading(self.partition, done, self._records), frame)]

    @property
    def _relation(self) -> str:
        return f"({self._query}) {ALIAS}" if self._query else self._table

    def _rows(self, spark: Any, relation: str) -> DataFrame:
        session = self._own_session(spark)
        reader = session.read.format("jdbc").options(**{**self._options, "dbtable": relation})
        rows: DataFrame = reader.load()
        return rows

    def _own_session(self, spark: Any) -> Any:
        if self._session[0] is not spark:
            self._session = spark, own_session(spark)
        return self._session[1]

    # The bound.

    def _bound(self, spark: Any, known: RowOffset) -> RowOffset | None:
        """Where the turn ends: asked of the database before anything is read."""
        names = [name for name in (self._values[INCREMENTING], self._values[TIMESTAMP]) if name]
        with explained("jdbc"):
            types = self._rows(spark, self._relation)
            quoted = [self._quoted(spark, _column(types, name)) for name in names]
            asked = ", ".join(
                f"MIN({name}) AS low{n}, MAX({name}) AS high{n}" for n, name in enumerate(quoted)
            )
            asking = f"(SELECT {asked} FROM {self._relation}) penstock_bound"  # noqa: S608 (quoted)
            row = self._rows(spark, asking)
            found = dict(zip(names, _pairs(_numbers(row).collect()[0]), strict=True))
        number = found.get(self._values[INCREMENTING], (None, None))
        micros = found.get(self._values[TIMESTAMP], (None, None))[1]
        return self._limited(known, Span(number[0], number[1], micros))

    def _limited(self, known: RowOffset, span: Span) -> RowOffset | None:
        self._more = False
        if self._values[TIMESTAMP]:
            return self._up_to_time(known, span)
        if span.high is None or span.low is None:
            return None
        before = known.incrementing if known.incrementing is not None else span.low - 1
        end = min(span.high, before + self._width)
        self._more = end < span.high
        return RowOffset(end) if end > before else None

    def _up_to_time(self, known: RowOffset, span: Span) -> RowOffset | None:
        if span.micros is None:
            return None
        latest = int(time.time() * 1e6) - self._values[DELAY] * 1000
        micros = min(span.micros, latest)
        if known.micros is None or micros > known.micros:
            return RowOffset(None, micros)
        # Of the same time there may be rows with greater numbers.
        again = micros == known.micros and self._values[INCREMENTING]
        return RowOffset(None, micros) if again else None

    def _after(self, rows: DataFrame, known: RowOffset) -> Any:
        from pyspark.sql import functions as sql

        number, moment = self._cells(rows)
        if moment is None:
            before = known.incrementing
            return number.isNotNull() if before is None else number > sql.lit(before)
        if known.micros is None:
            return moment.isNotNull()
        at = sql.timestamp_micros(sql.lit(known.micros))
        if number is None or known.incrementing is None:
            return moment > at
        return (moment > at) | ((moment == at) & (number > sql.lit(known.incrementing)))

    def _up_to(self, rows: DataFrame, bound: RowOffset) -> Any:
        from pyspark.sql import functions as sql

        number, moment = self._cells(rows)
        if moment is not None:
            return moment <= sql.timestamp_micros(sql.lit(bound.micros))
        return number <= sql.lit(bound.incrementing)

    # The frame.

    def _cells(self, rows: DataFrame) -> tuple[Any, Any]:
        number, moment = self._values[INCREMENTING], self._values[TIMESTAMP]
        return (
            rows[_column(rows, number)] if number else None,
            rows[_column(rows, moment)] if moment else None,
        )

    def _order(self, rows: DataFrame) -> dict[str, Column]:
        from pyspark.sql import functions as sql

        number, moment = self._cells(rows)
        order = {}
        if moment is not None:
            order[TIME] = sql.unix_micros(moment.cast("timestamp"))
        if number is not None:
            order[NUMBER] = number.cast("bigint")
        return order

    def _frame(self, rows: DataFrame, order: Mapping[str, Column]) -> DataFrame:
        fields = rows.columns
        rows = rows.withColumns(dict(order))
        made = rows.selectExpr(*selected(fields, self._select), *order)
        refuse_unless_one_to_one(made)
        return record_frame(made, self._columns, list(order))

    def _quoted(self, spark: Any, name: str) -> str:
        dialects = spark._jvm.org.apache.spark.sql.jdbc.JdbcDialects
        return str(dialects.get(self._options.get("url", "")).quoteIdentifier(name))


@dataclass(frozen=True)
class Span:
    """The least and the greatest number that there is, and the latest time."""

    low: int | None
    high: int | None
    micros: int | None


def table_partition_of(table: str) -> SourcePartition:
    """The source partition of a table of that name."""
    schema, _, name = table.rpartition(".")
    return table_partition(TableId(schema, name))


def _column(rows: DataFrame, name: str) -> str:
    """As the database writes it: people write it as they like."""
    found = next((each for each in rows.columns if each.lower() == name.lower()), None)
    if found is None:
        raise ConfigError(f"there is no column {name}: there are {', '.join(rows.columns)}")
    return found


def _numbers(rows: DataFrame) -> DataFrame:
    """Each cell as a number: times in microseconds."""
    from pyspark.sql import functions as sql

    timed = ("timestamp", "timestamp_ntz", "date")
    for name, kind in rows.dtypes:
        if kind not in (*timed, *WHOLE) and not kind.startswith("decimal"):
            raise ConfigError(f"new rows cannot be found by a column of type {kind} ({name})")
    return rows.select(
        *(
            sql.unix_micros(rows[name].cast("timestamp"))
            if kind in timed
            else rows[name].cast("bigint")
            for name, kind in rows.dtypes
        )
    )


def _pairs(row: Any) -> list[tuple[int | None, int | None]]:
    cells = list(row)
    return list(zip(cells[::2], cells[1::2], strict=True))
