"""Files as DataFrames: exactly these, each as a whole, and nothing skipped without a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from penstock.plugins.spark.file_reading import FILE
from penstock.plugins.spark.row_records import (
    BROKEN,
    RecordColumns,
    record_frame,
    refuse_unless_one_to_one,
    selected,
)
from penstock.sdk.errors import RetriableError, UserError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

SETTINGS: Final = {
    # One partition of whole files, whatever their size: their rows come in their order.
    "spark.sql.files.maxPartitionBytes": str(1 << 62),
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.files.minPartitionNum": "1",
    # A job that lists a thousand files costs more than listing them here.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Otherwise a row is broken or not by which of its columns are selected.
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    # Rows may be long: ten thousand of them would not fit into a Python process.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 << 20),
}
MERGING: Final = ("parquet", "orc")
TEXTS: Final = ("json", "csv")
"""Formats in which a row may be broken."""
BASE: Final = "basepath"
"""The option that has Spark read columns from the names of folders below it."""
AVRO: Final = "org.apache.spark:spark-avro_2.13:"
UNREADABLE: Final = "[FAILED_READ_FILE"
UNMERGEABLE: Final = ("CANNOT_MERGE", "Failed merging schema", "Failed to merge")


class SchemasDiffer(UserError):  # noqa: N818 (it may be no error)
    """The columns of these files cannot be merged; some of them may be."""


class UnreadableError(UserError):
    """A file is damaged, or something else than it should be."""


class FileFrames:
    """Makes frames of files by the configuration."""

    def __init__(
        self,
        kind: str,
        schema: str,
        options: Mapping[str, str],
        select: Sequence[str],
        columns: RecordColumns,
    ) -> None:
        self._format = kind
        self._schema = schema
        self._options = dict(options)
        self._select = list(select)
        self._columns = columns

    def schema(self, session: SparkSession, paths: Sequence[str]) -> StructType:
        """The columns of these files: as configured, or as Spark finds them.

        ConfigError, UserError, RetriableError if a file has just gone; SchemasDiffer.
        """
        from pyspark.sql.types import StringType, StructField, StructType

        reader = self._reader(session)
        if self._schema:
            reader = reader.schema(self._schema)
        with explained(self._format):
            found = reader.load(list(paths)).schema
        fields = [field for field in found.fields if field.name != BROKEN]
        if self._format in TEXTS:
            fields.append(StructField(BROKEN, StringType()))
        return StructType(fields)

    def refuse_hidden(self, schema: StructType, keys: Sequence[str]) -> None:
        """UserError for a column of ``schema`` that is not in the files, whose paths below the
        source's are ``keys``, but in the names of their folders: it would be null."""
        if not self._schema or any(option.lower() == BASE for option in self._options):
            return
        wanted = {name.lower() for name in schema.fieldNames()}
        folders = {folder for key in keys for folder in key.split("/")[:-1] if "=" in folder}
        if found := next((f for f in sorted(folders) if f.partition("=")[0].lower() in wanted), ""):
            raise UserError(
                f"The schema has a column that names of folders have ({found}): set "
                f"format.options.basePath to the folder above the first of these"
            )

    def frame(self, session: SparkSession, paths: Sequence[str], schema: StructType) -> DataFrame:
        """The records of these files, with the file of each."""
        beside = [FILE, *([BROKEN] if BROKEN in schema.fieldNames() else [])]
        with explained(self._format):
            rows = self._reader(session).schema(schema).load(list(paths))
            fields = [name for name in rows.columns if name not in beside]
            own = [f"_metadata.file_path AS {FILE}", *beside[1:]]
            made = rows.selectExpr(*selected(fields, self._select), *own)
            refuse_unless_one_to_one(made)
            return record_frame(made, self._columns, beside)

    def _reader(self, session: SparkSession) -> DataFrameReader:
        defaults = {"__globPaths__": "false"}
        if self._format in MERGING:
            defaults["mergeSchema"] = "true"
        if self._format in TEXTS:
            defaults |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BROKEN}
        if self._format == "csv":
            # A header that says something else is an error, and not other columns.
            defaults["enforceSchema"] = "false"
        return session.read.format(self._format).options(**{**defaults, **self._options})


def own_session(spark: SparkSession) -> SparkSession:
    """A session beside ``spark``, in which files are not split."""
    session = spark.newSession()
    for key, value in SETTINGS.items():
        session.conf.set(key, value)
    return session


class explained:  # noqa: N801 (reads as a statement)
    """Within the ``with`` block, Spark's errors about a plan become sentences."""

    def __init__(self, kind: str) -> None:
        self._format = kind

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import pyspark
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import AnalysisException, PySparkException

        if not isinstance(error, PySparkException | Py4JJavaError):
            return
        lines = str(error).splitlines()
        if line := next((each for each in lines if any(m in each for m in UNMERGEABLE)), ""):
            raise SchemasDiffer(line.strip()) from None
        if line := next((each for each in lines if UNREADABLE in each), ""):
            raise UnreadableError(line[line.index(UNREADABLE) :]) from None
        if not isinstance(error, AnalysisException):
            return
        text = str(error).splitlines()[0]
        condition = str(error.getCondition() or "")
        if condition.startswith(("DATA_SOURCE_NOT_FOUND", "_LEGACY_ERROR_TEMP_1139")) or (
            "Failed to find data source" in text
        ):
            raise UserError(
                f'Spark has no format "{self._format}" installed: add its jar to those of the '
                f"worker, spark.jars.packages={AVRO}{pyspark.__version__} for avro"
            ) from None
        if condition.startswith("PATH_NOT_FOUND"):
            raise RetriableError(f"a file has disappeared since it was listed: {text}") from None
        raise UserError(text) from None
