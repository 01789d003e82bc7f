"""Streams and tables as views of Spark's, and what of their records cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.engine.driver.turn_faults import for_people, unavailable
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.persistent.avro_stages import with_texts
from penstock.sql.planning.decoding import UNREADABLE_VALUE, columns_of, parsed_of
from penstock.sql.planning.misfits import KEYLESS, misfits
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
    columns: Iterable[str] = (),
) -> None:
    """Make the view ``name`` of a range of a source's topic; see ``decoding``.

    ``columns`` are those of which it is counted what does not fit.
    """
    raw, parsed = f"{name}_raw", f"{name}_parsed"
    records = reading.frame(spark, home.connection(), source.topic, *span)
    texts = with_texts(records, source, home.registry)
    if latest:
        texts = _counting(texts, f"{name}_keys", {"keyless": "key IS NULL"})
    texts.createOrReplaceTempView(raw)
    watched(spark, parsed_of(source, raw, latest=latest), name, source, columns)
    text = columns_of(source, parsed, tombstones=tombstones)
    analysed(spark, text).createOrReplaceTempView(name)


def watched(
    spark: SparkSession, parsed: str, name: str, source: Source, columns: Iterable[str]
) -> None:
    """Make the view of parsed records, which counts as it is read what cannot be."""
    conditions = {"unreadable": UNREADABLE_VALUE, **misfits(source, columns)}
    counting = _counting(analysed(spark, parsed), name, conditions)
    counting.createOrReplaceTempView(f"{name}_parsed")


def _counting(frame: DataFrame, name: str, conditions: Mapping[str, str]) -> DataFrame:
    """The same; while it is read, it is counted how many rows these conditions hold for."""
    from pyspark.sql.functions import expr

    counts = (f"count_if({each}) AS c{n}" for n, each in enumerate(conditions.values()))
    return frame.observe(name, *map(expr, counts))


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
    """What a query could not read of which topic, as far as it has read."""

    def __init__(self) -> None:
        self._told: dict[str, list[tuple[str, str]]] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def watch(self, name: str, source: Source, columns: Iterable[str] = ()) -> None:
        """Know what a view is of: as ``view`` was told."""
        lost, topic = f"of topic {source.topic} skipped: ", source.topic
        fields = [f"of topic {topic} read as NULL: {each}" for each in misfits(source, columns)]
        one = [("record", lost + source.unreadable), *(("field", each) for each in fields)]
        self._told[name] = one
        self._told[f"{name}_keys"] = [("record", lost + KEYLESS)]

    def count(self, frame: DataFrame) -> None:
        """Add what a frame has come across; call it when the frame has been read."""
        found = frame._jdf.queryExecution().observedMetrics()
        for name, kinds in self._told.items():
            row = found.get(name)
            for number, kind in enumerate(kinds if row.isDefined() else ()):
                self._counts[kind] = self._counts.get(kind, 0) + int(row.get().getLong(number))

    def told(self) -> Sequence[str]:
        """A sentence for each kind of them."""
        return [
            f"{count} {what}{'' if count == 1 else 's'} {told}."
            for (what, told), count in self._counts.items()
            if count
        ]
