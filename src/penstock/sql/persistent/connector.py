"""The connector that runs a persistent query. SQL creates it; its config is not for people."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from penstock.sdk import ConfigDef, ConfigKey, FrameConnector, FrameTurn, Guarantee, Importance
from penstock.sdk.errors import PenstockError
from penstock.sdk.frames import TurnEnd
from penstock.sql.avro.registry import KEYS as REGISTRY
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.catalog.query import DEFINITION, PersistentQuery
from penstock.sql.errors import SqlError
from penstock.sql.persistent.turns import QueryTurns, planned_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

processing_log = logging.getLogger("penstock.sql.processing")
"""Where the rows are told that a query has skipped."""

STATE_FOLDER = "sql.state.dir"


class PersistentQueryConnector(FrameConnector):
    """Reads the stream of a query, turn by turn, and writes what comes out to its sink's topic."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            DEFINITION,
            importance=Importance.HIGH,
            doc="What the query reads and writes, made by CREATE … AS SELECT and INSERT INTO … "
            "SELECT.",
        ),
    )
    worker_keys: ClassVar[tuple[str, ...]] = (STATE_FOLDER, *REGISTRY)
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """The definition must be that of a query that can be planned."""
        try:
            query = PersistentQuery.of_config(config)
            planned_query(query)
        except (ValueError, SqlError) as error:
            return [(DEFINITION, f"{error}. Persistent queries are created in SQL.")]
        return self._without_registry(query, config)

    def _without_registry(
        self, query: PersistentQuery, config: Mapping[str, str]
    ) -> Sequence[tuple[str, str]]:
        """What the worker lacks for the formats of the query."""
        try:
            if query.has_avro:
                SqlRegistry.of(config).converter(is_key=False)
        except PenstockError as error:
            return [(DEFINITION, str(error))]
        return ()

    def start(self, config: Mapping[str, str]) -> None:
        """Know the query."""
        self._config = dict(config)
        self.is_whole = bool(self._query.state_topic)  # groups have rows of all partitions
        self._turns = QueryTurns(self._query, config.get(STATE_FOLDER, ""), SqlRegistry.of(config))

    @cached_property
    def _query(self) -> PersistentQuery:
        return PersistentQuery.of_config(self._config)

    def side_topics(self) -> Sequence[str]:
        """Of a join: the table, and the stream, to tell when a turn reads it to its end."""
        return [source.topic for source in self._query.sources] if self._query.sources[1:] else []

    def build(self, records: DataFrame, turn: FrameTurn) -> DataFrame:
        """The rows of the query."""
        return self._turns.build(records, turn)

    def turned(self, done: TurnEnd) -> None:
        """Tell the processing log what was skipped."""
        if done.bad_rows:
            told = "; ".join(dict.fromkeys(done.errors))
            rows = "row was" if done.bad_rows == 1 else "rows were"
            processing_log.warning(
                "%s: %s %s skipped: %s", self._query.id, done.bad_rows, rows, told
            )
