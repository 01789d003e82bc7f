"""A source's configuration, read once, and the readers that it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.plugins.databases import source_config as keys
from penstock.plugins.databases.first_load import LoadRange, cut
from penstock.plugins.databases.jdbc_url import URL, located
from penstock.plugins.databases.relation_reader import (
    NewRows,
    RangeRows,
    RelationReader,
    WholeResult,
    WholeTable,
)
from penstock.plugins.databases.row_records import RowRecords
from penstock.plugins.databases.row_search import RowSearch
from penstock.plugins.databases.sessions import Session
from penstock.plugins.databases.table_choice import TableChoice
from penstock.plugins.databases.table_offsets import (
    QUERY_PARTITION,
    BulkOffset,
    RowOffset,
    known_partition,
)
from penstock.plugins.files.file_jail import Jail
from penstock.sdk.databases import (
    Column,
    Database,
    Dialect,
    Relation,
    TableId,
    TypeOptions,
)
from penstock.sdk.errors import ConfigError, UserError
from penstock.sdk.offsets import OffsetReader


@dataclass(frozen=True)
class SourceSettings:
    """What a task or connector needs to know."""

    read: Mapping[str, Any]
    database: Database
    dialect: Dialect
    choice: TableChoice

    @classmethod
    def of(cls, config: Mapping[str, str]) -> SourceSettings:
        """``ConfigError`` names the key that is wrong, and what to write."""
        read = keys.SOURCE_CONFIG.parse(config)
        read[keys.MODE] = read[keys.MODE].lower()
        kind, found = located(read[URL], read[keys.USER], read[keys.PASSWORD])
        _check(read, found, kind)
        if found.file is not None:
            _check_file(found.file, config)
        options = TypeOptions(
            read[keys.NUMERIC_MAPPING].lower(),
            read[keys.GRANULARITY].lower(),
            read[keys.TIMEZONE],
        )
        return cls(read, found, kind(options), TableChoice.of(read))

    def session(self) -> Session:
        """A connection, which is opened when it is first used."""
        return Session(self.database, self.dialect.connect)

    @property
    def query(self) -> str:
        """The query that is read instead of tables, or ""."""
        return str(self.read[keys.QUERY])

    @property
    def interval(self) -> float:
        """Seconds between two looks for new rows."""
        return float(self.read[keys.POLL_INTERVAL]) / 1000

    def query_reader(self, session: Session, offsets: OffsetReader) -> RelationReader:
        """A reader of the query's result."""
        relation = self.dialect.query(session, self.query)
        records = RowRecords.of(
            relation, self.read[keys.TOPIC_PREFIX], self.read[keys.KEY_COLUMNS] or ()
        )
        return self._reader(session, records, QUERY_PARTITION, offsets.get(QUERY_PARTITION))

    def table_reader(
        self, session: Session, table: TableId, offsets: OffsetReader
    ) -> RelationReader:
        """A reader of a table, as it is now."""
        records = self._records(session, table)
        partition = known_partition(table, offsets)
        return self._reader(session, records, partition, offsets.get(partition))

    def range_reader(
        self, session: Session, table: TableId, part: LoadRange, offsets: OffsetReader
    ) -> RelationReader:
        """A reader of a range of a table's first load."""
        records = self._records(session, table)
        search = self._search(records.relation)
        return RangeRows(records, table, search, part, part.reached(table, offsets))

    def ranges(
        self, session: Session, table: TableId, offsets: OffsetReader, parts: int
    ) -> list[LoadRange]:
        """How to load a table of which nothing was read; none if it is better read as a whole."""
        if self.read[keys.MODE] != "incrementing" or parts < 2 or self.read[keys.QUERY_SUFFIX]:
            return []
        if offsets.get(known_partition(table, offsets)) is not None:
            return []
        search = self._search(self._records(session, table).relation)
        if search.number is None or search.number.type not in self.dialect.count_types:
            return []
        (span,) = session.rows(search.span(), doing=f"measuring table {table}")
        return cut(span["low"], span["high"], parts)

    def _records(self, session: Session, table: TableId) -> RowRecords:
        relation = self.dialect.table(session, table)
        if relation is None:
            raise UserError(
                f"The {self.database} has no table {table}. Create it, or take it out of "
                f"'{keys.WHITELIST}'."
            )
        topic = f"{self.read[keys.TOPIC_PREFIX]}{table.table}"
        return RowRecords.of(relation, topic, self.read[keys.KEY_COLUMNS] or ())

    def _reader(
        self,
        session: Session,
        records: RowRecords,
        partition: Mapping[str, Any],
        offset: Mapping[str, Any] | None,
    ) -> RelationReader:
        if self.read[keys.MODE] == "bulk":
            interval, bulk = self.read[keys.POLL_INTERVAL], BulkOffset.of(offset)
            if records.relation.pages:
                return WholeTable(records, partition, self.dialect, bulk, interval)
            return WholeResult(records, partition, bulk, interval)
        known = RowOffset.of(offset)
        begun = self._beginning(known, session)
        search = self._search(records.relation)
        return NewRows(records, partition, search, begun, unmarked=begun != known)

    def _beginning(self, offset: RowOffset, session: Session) -> RowOffset:
        initial = self.read[keys.TIMESTAMP_INITIAL]
        if "timestamp" not in self.read[keys.MODE] or offset.micros is not None or initial is None:
            return offset
        if initial < 0:
            initial = self.dialect.now_ms(session)
        return RowOffset(offset.incrementing, int(initial) * 1000)

    def _search(self, relation: Relation) -> RowSearch:
        mode = self.read[keys.MODE]
        number = self._number(relation) if "incrementing" in mode else None
        times = self._times(relation) if "timestamp" in mode else ()
        suffix, delay = self.read[keys.QUERY_SUFFIX], self.read[keys.DELAY]
        return RowSearch(self.dialect, relation, number, times, delay, suffix)

    def _number(self, relation: Relation) -> Column:
        name = self.read[keys.INCREMENTING]
        if not name:
            numbered = [column for column in relation.columns if column.incrementing]
            if len(numbered) != 1:
                raise ConfigError(
                    f"The database does not number the rows of {relation.label} by one column: "
                    f"set '{keys.INCREMENTING}'.",
                    key=keys.INCREMENTING,
                )
            return numbered[0]
        return self._required(relation, name, keys.INCREMENTING)

    def _times(self, relation: Relation) -> tuple[Column, ...]:
        names = self.read[keys.TIMESTAMP]
        columns = [relation.column(name) for name in names]
        if len(names) == 1:
            columns = [self._required(relation, names[0], keys.TIMESTAMP)]
        for name, column in zip(names, columns, strict=True):
            if column is None or column.type not in self.dialect.time_types:
                kind = "is not there" if column is None else f"is of type {column.type}"
                raise ConfigError(
                    f"Column {name} of {relation.label} {kind}; '{keys.TIMESTAMP}' needs columns "
                    f"of type {', '.join(self.dialect.time_types)}.",
                    key=keys.TIMESTAMP,
                )
        return tuple(column for column in columns if column is not None)

    def _required(self, relation: Relation, name: str, key: str) -> Column:
        column = relation.column(name)
        if column is None:
            known = ", ".join(c.name for c in relation.columns)
            message = f"The {relation.label} has no column {name}; it has {known}."
            raise ConfigError(message, key=key)
        in_table = not self.query
        if column.nullable and in_table and self.read[keys.VALIDATE_NON_NULL]:
            raise ConfigError(
                f"Column {name} of {relation.label} may be null, and rows without it are never "
                f"read. Make it NOT NULL, or set '{keys.VALIDATE_NON_NULL}' to false.",
                key=key,
            )
        return column


def _check(read: Mapping[str, Any], found: Database, kind: type[Dialect]) -> None:
    mode = read[keys.MODE]
    if "timestamp" in mode and not read[keys.TIMESTAMP]:
        raise ConfigError(f"Mode {mode} needs '{keys.TIMESTAMP}'.", key=keys.TIMESTAMP)
    if "timestamp" in mode and not kind.time_types:
        message = f"In a {found.kind} database, no rows are found by a time: use mode "
        raise ConfigError(f"{message}incrementing or bulk.", key=keys.MODE)
    if read[keys.QUERY] and any(read[k] for k in (keys.WHITELIST, keys.BLACKLIST, keys.INCLUDE)):
        message = f"Set either '{keys.QUERY}' or tables, not both."
        raise ConfigError(message, key=keys.QUERY)
    if read[keys.QUERY] and "incrementing" in mode and not read[keys.INCREMENTING]:
        message = f"With a query, '{keys.INCREMENTING}' must be set."
        raise ConfigError(message, key=keys.INCREMENTING)
    for key in (keys.INCLUDE, keys.EXCLUDE):
        for pattern in read[key] or ():
            _check_pattern(key, pattern)


def _check_file(path: str, config: Mapping[str, str]) -> None:
    """The worker's limits for files hold for databases in files as well."""
    try:
        Jail.of(config).check(path)
    except UserError as error:
        raise ConfigError(str(error), key=URL) from None


def _check_pattern(key: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{pattern} is not a regular expression: {error}.", key=key) from None
