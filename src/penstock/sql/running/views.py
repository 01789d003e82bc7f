"""Streams and tables as views of Spark's, and what of their records cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.engine.driver.turn_faults import for_people, unavailable
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.persistent.avro_stages import with_texts
from penstock.sql.planning.decoding import UNREADABLE, columns_of, parsed_of
from penstock.sql.running import reading
from penstock.sql.running.home import Home
from penstock.sql.running.results import Stop

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Span = tuple[reading.Offsets, reading.Offsets]


def view(
    home: Home,
    spark: SparkSession,
    name: str,
    source: Source,
    span: Span,
    *,
    latest: bool,
    tombstones: bool = False,
) -> None:
    """Make the view ``name`` of a range of a source's topic; see ``decoding``."""
    raw, parsed = f"{name}_raw", f"{name}_parsed"
    records = reading.frame(spark, home.connection(), source.topic, *span)
    with_texts(records, source, home.registry).createOrReplaceTempView(raw)
    watched(spark, parsed_of(source, raw, latest=latest), name).createOrReplaceTempView(parsed)
    text = columns_of(source, parsed, tombstones=tombstones)
    analysed(spark, text).createOrReplaceTempView(name)


def watched(spark: SparkSession, parsed: str, name: str) -> DataFrame:
    """The frame of parsed records, which counts as it is read what cannot be."""
    from pyspark.sql.functions import expr

    return analysed(spark, parsed).observe(name, expr(UNREADABLE).alias("unreadable"))


def analysed(spark: SparkSession, text: str) -> DataFrame:
    """A frame; StatementError with what Spark says about types and names."""
    with spark_errors(Stop()):
        return spark.sql(text)


@contextmanager
def spark_errors(stop: Stop) -> Iterator[None]:
    """StatementError for what Spark says; nothing for the end of a query that was told to end."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, OSError, EOFError) as error:
        if stop.is_set():
            return
        if said := unavailable(str(error)) or for_people(str(error)):
            raise StatementError(said) from None
        told = error.getMessage() if isinstance(error, PySparkException) else None
        first = str(told or error).strip().splitlines()[0]
        raise StatementError(f"Spark cannot run this query: {first}") from None


class Skipped:
    """How many records of which topic a query could not read, as far as it has read."""

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def watch(self, name: str, source: Source) -> None:
        """Know what a view is of."""
        self._sources[name] = source

    def count(self, frame: DataFrame) -> None:
        """Add what a frame has come across; call it when the frame has been read."""
        found = frame._jdf.queryExecution().observedMetrics()
        for name, source in self._sources.items():
            row, kind = found.get(name), (source.topic, source.unreadable)
            if row.isDefined():
                self._counts[kind] = self._counts.get(kind, 0) + int(row.get().getLong(0))

    def told(self) -> Sequence[str]:
        """A sentence per topic that has such records."""
        return [
            f"{count} record{'' if count == 1 else 's'} of topic {topic} skipped: {why}."
            for (topic, why), count in self._counts.items()
            if count
        ]
