"""Records of topics into files of any format that Spark writes, exactly once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from penstock import __version__
from penstock.plugins.files.file_jail import ROOTS, Jail
from penstock.plugins.spark.decoding import FORMS, Decoding, decoded, readable
from penstock.plugins.spark.hadoop_files import on_this_machine
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty, one_of
from penstock.sdk.errors import ConfigError, UserError
from penstock.sdk.frames import FormatEnd, FrameConnector, FrameTurn
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.sql_expressions import expressions

FORMAT, PATH, TABLE, OPTIONS = "format", "path", "table", "format.options."
VALUE, SCHEMA, DELIMITER = "value.format", "value.schema", "value.delimiter"
SELECT, PARTITION_BY = "select", "partition.by"
IN_FILES = ("parquet", "orc", "json", "csv", "text", "xml", "avro")
IN_FOLDERS = (*IN_FILES, "delta")
IN_CATALOGS = ("iceberg",)
IN_TABLES = ("delta", *IN_CATALOGS)
RENAMING = ("file", "hdfs", "viewfs", "webhdfs", "abfs", "abfss")
"""File systems that rename a folder at once."""
SPARK_SINK_CONFIG = ConfigDef(
    ConfigKey(
        PATH,
        default="",
        importance=Importance.HIGH,
        doc="The folder to write to: a URL of a file system that Spark has, or a folder that all "
        "executors share. Every turn adds a folder turn=… to it, in one rename: exactly once on "
        "file systems that rename a folder at once, at least once on object stores. For format "
        "delta, the folder of the table.",
    ),
    ConfigKey(
        TABLE,
        default="",
        importance=Importance.HIGH,
        doc="For format iceberg: the table, in one of the catalogs of the worker's Spark, such as "
        "lake.sales.orders. It is made if it does not exist.",
    ),
    ConfigKey(
        FORMAT,
        default="parquet",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="Spark's name of the format: parquet, orc, json, csv, text, xml or avro; delta or "
        "iceberg where their jars are installed; or one that is appended to, such as jdbc: at "
        "least once. Options of the format are keys that begin with format.options.",
    ),
    ConfigKey(
        OPTIONS + "password",
        Type.PASSWORD,
        default=None,
        doc="The password, for a format that has such an option.",
    ),
    ConfigKey(
        VALUE,
        default="string",
        validator=one_of(*FORMS),
        doc="How values are read: bytes or string; json or csv with value.schema; or converter, by "
        "key.converter and value.converter. Keys are text.",
    ),
    ConfigKey(
        SCHEMA,
        default="",
        doc="The fields of values as Spark writes them, such as id BIGINT, name STRING. With a "
        "converter it may be one type, STRING by default: of what is no text, its JSON.",
    ),
    ConfigKey(
        DELIMITER,
        default=",",
        validator=non_empty,
        doc="What is between the fields of csv values.",
    ),
    ConfigKey(
        SELECT,
        default="*",
        doc="What is written: expressions of Spark SQL, with a semicolon between two of them, over "
        "topic, partition, offset, timestamp, key, value and headers. value.* are the fields of a "
        "value with a schema.",
    ),
    ConfigKey(
        PARTITION_BY,
        Type.LIST,
        default=[],
        doc="Columns by which the files are put into folders.",
    ),
)


class SparkSinkConnector(FrameConnector):
    """Writes each turn's records in its place, or nothing of it."""

    config_def: ClassVar[ConfigDef] = SPARK_SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "on file systems that rename a folder at once, and in tables of Delta and Iceberg; at "
        "least once on object stores, and in formats that are appended to"
    )
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "SparkSink",
        "topics": "orders",
        "path": "/data/orders",
        "format": "parquet",
        "value.format": "json",
        "value.schema": "id BIGINT, customer STRING, amount DOUBLE",
        "select": "value.*; date(timestamp) AS day",
        "partition.by": "day",
    }
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        read = {key: SPARK_SINK_CONFIG[key].read(config) for key in (FORMAT, PATH)}
        kind = read[FORMAT].lower()
        renamed = kind in IN_FILES and (urlsplit(read[PATH]).scheme or "file") in RENAMING
        return cls.guarantee if renamed or kind in IN_TABLES else Guarantee.AT_LEAST_ONCE

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Texts with fields need a schema, expressions have limits, and so may folders."""
        parsed, found = SPARK_SINK_CONFIG.parse(config), []
        checks: list[tuple[str, Callable[[], object]]] = [
            (SCHEMA, lambda: _decoding(parsed)),
            (SELECT, lambda: expressions(SELECT, parsed[SELECT])),
            (PATH, lambda: _check_path(config, parsed)),
            (TABLE, lambda: _check_table(parsed)),
        ]
        for key, check in checks:
            try:
                check()
            except (ConfigError, UserError) as error:
                found.append((key, str(error)))
        return found

    def exclusive_targets(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """The folder: two sinks could take one another's turns for their own. Not so in tables."""
        path = config.get(PATH, "")
        if not path or config.get(FORMAT, "").lower() == "delta":
            return {}
        local = on_this_machine(path)
        return {PATH: path.rstrip("/") if local is None else f"file:{os.path.realpath(local)}"}

    def start(self, config: Mapping[str, str]) -> None:
        """The configuration is all there is."""
        self._config = SPARK_SINK_CONFIG.parse(config)
        _check_path(config, self._config)
        _check_table(self._config)
        self._select = expressions(SELECT, self._config[SELECT])
        self._options = {
            key.removeprefix(OPTIONS): value
            for key, value in config.items()
            if key.startswith(OPTIONS)
        }

    def end(self) -> FormatEnd:
        """Files of the format, a table, or whatever is appended to."""
        config, columns = self._config, tuple(self._config[PARTITION_BY])
        return FormatEnd(config[FORMAT], config[PATH], self._options, columns, config[TABLE])

    def decode(self, records: Any, turn: FrameTurn) -> Any:
        """By ``value.format``."""
        return decoded(records, _decoding(self._config), turn)

    def build(self, records: Any, turn: FrameTurn) -> Any:
        """What is selected."""
        return readable(records).selectExpr(*self._select)


def _decoding(config: Mapping[str, Any]) -> Decoding:
    return Decoding(config[VALUE], config[SCHEMA], config[DELIMITER])


def _check_path(config: Mapping[str, str], parsed: Mapping[str, Any]) -> None:
    """ConfigError if it is missing, UserError if the worker does not allow it."""
    path = parsed[PATH]
    if given := next((key for key in config if key.lower() == f"{OPTIONS}path"), None):
        raise ConfigError(f"leave it out, and set {PATH}", key=given)
    if not path and parsed[FORMAT].lower() in IN_FOLDERS:
        raise ConfigError(f"format {parsed[FORMAT]} writes files: say where, in {PATH}", key=PATH)
    if path and (local := on_this_machine(path)) is not None:
        Jail.of(config).check(local)


def _check_table(parsed: Mapping[str, Any]) -> None:
    """ConfigError if it is missing, or given for a format that has none."""
    table, kind = parsed[TABLE], parsed[FORMAT]
    if kind.lower() not in IN_CATALOGS:
        if table:
            raise ConfigError(f"format {kind} has no tables: leave out {TABLE}", key=TABLE)
        return
    if not re.fullmatch(r"\w+(\.\w+){2,}", table):
        raise ConfigError(
            f"format {kind} needs a table in one of Spark's catalogs, such as lake.sales.orders",
            key=TABLE,
        )
    if parsed[PATH]:
        raise ConfigError(f"format {kind} writes to {TABLE}: leave out {PATH}", key=PATH)
