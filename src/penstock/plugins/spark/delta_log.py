"""The log of a table of Delta's: its versions, and the files that they have added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from penstock.sdk.errors import RetriableError, UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SESSION: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
PACKAGE: Final = "io.delta:delta-spark_2.13:4.0.0"
LOST: Final = ("versions", "reconstruct", "VERSION", "log file", "DELTA_TRUNCATED")


@dataclass(frozen=True)
class Version:
    """What one version of the table has changed."""

    number: int
    added: Sequence[Any]
    """Delta's own objects for files with new rows, as the log has them."""
    removes: bool
    """Whether it deletes or rewrites rows."""
    columns: str
    """The table's columns, if it sets them; otherwise empty."""
    operation: str = ""


class DeltaTable:
    """A table, as one session reads it."""

    def __init__(self, spark: Any, session: Any, path: str) -> None:
        """UserError if Delta is not installed, or if there is no table."""
        self._jvm = spark._jvm
        self._session = session
        self._path = path
        refuse_unless_delta(spark)
        with self._plainly(), self._active():
            log = self._jvm.org.apache.spark.sql.delta.DeltaLog
            self._log = log.forTable(session._jsparkSession, path)
            if int(self._latest().version()) < 0:
                raise UserError(f"There is no Delta table at {path}: write one, or correct path.")

    def _latest(self) -> Any:
        nothing = self._jvm.scala.Option.empty()
        return self._log.update(False, nothing, nothing)

    def latest(self) -> int:
        """The number of the last version."""
        with self._plainly(), self._active():
            return int(self._latest().version())

    def at(self, version: int) -> Any:
        """The table as of a version; UserError if it is no longer there."""
        nothing = self._jvm.scala.Option.empty()
        with self._plainly(), self._active():
            return self._log.getSnapshotAt(version, nothing, nothing)

    def files(self, snapshot: Any) -> Any:
        """All files of it, in an order that is the same whenever it is asked."""
        with self._plainly(), self._active():
            empty = self._session.sparkContext._gateway.new_array(self._jvm.java.lang.String, 0)
            return snapshot.allFiles().sort("path", empty).collectAsList()

    def changes(self, first: int, last: int) -> Iterator[Version]:
        """The versions from ``first`` to ``last``; UserError if the log has lost one."""
        with self._plainly():
            found = self._log.getChanges(first, last, True)
            while found.hasNext():
                each = found.next()
                yield version_of(int(each._1()), each._2())

    def frame(self, snapshot: Any, files: Sequence[Any]) -> DataFrame:
        """The rows of these files, of which one comes after the other."""
        from pyspark.sql import DataFrame

        made = self._jvm.java.util.ArrayList()
        for each in files:
            made.add(each)
        scala = self._jvm.PythonUtils.toSeq(made)
        with self._plainly(), self._active():
            nothing = self._jvm.scala.Option.empty()
            rows = self._log.createDataFrame(snapshot, scala, False, nothing)
        return DataFrame(rows, self._session)

    @contextmanager
    def _active(self) -> Iterator[None]:
        """Delta asks for the session of the thread, whose settings say how files are read."""
        sessions = self._jvm.org.apache.spark.sql.classic.SparkSession
        before = sessions.getActiveSession()
        sessions.setActiveSession(self._session._jsparkSession)
        try:
            yield
        finally:
            if before.isDefined():
                sessions.setActiveSession(before.get())
            else:
                sessions.clearActiveSession()

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Java's errors, in a sentence."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JJavaError) as error:
            thrown = getattr(error, "java_exception", None)
            text = str(error) if thrown is None else str(thrown.toString())
            line = text.strip().splitlines()[0]
            if "InterruptedException" in line or "Timeout" in line:
                raise RetriableError(f"the table at {self._path} does not answer: {line}") from None
            if any(word in line for word in LOST):
                raise UserError(
                    f"The log of the table at {self._path} no longer has a version that was to be "
                    f"read ({line}). Stop the connector and set its offset to null, to read the "
                    "table as it is now, or to a version that is there; then resume it."
                ) from None
            raise UserError(f"The table at {self._path} cannot be read: {line}") from None


def version_of(number: int, actions: Any) -> Version:
    """What a version's actions say. They are asked: what they print is not always JSON."""
    added, removes, columns, operation = [], False, "", ""
    for place in range(actions.size()):
        action = actions.apply(place)
        kind = action.getClass().getSimpleName()
        if kind == "AddFile" and action.dataChange():
            added.append(action)
        elif kind == "RemoveFile" and action.dataChange():
            removes = True
        elif kind == "Metadata":
            columns = str(action.schemaString())
        elif kind == "CommitInfo":
            operation = str(action.operation())
    return Version(number, added, removes, columns, operation)


def refuse_unless_delta(spark: Any) -> None:
    """UserError unless the session can read Delta's tables; it says what to add to the worker."""
    lookup = spark._jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
    try:
        lookup("delta", spark._jsparkSession.sessionState().conf())
    except Exception:  # noqa: BLE001 (Java's answer for a class that is missing, or does not load)
        raise UserError(
            f'Spark has no format "delta" installed: add spark.jars.packages={PACKAGE} to the '
            "worker's configuration, or its jars as spark.jars, and start the worker again."
        ) from None
    for key, value in SESSION.items():
        if value not in str(spark.conf.get(key, "")).split(","):
            raise UserError(
                f"Spark's session is not prepared for Delta: add {key}={value} to the worker's "
                "configuration, and start the worker again."
            )
