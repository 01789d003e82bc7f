"""The queries of tests/data/sql/aggregates*.yaml, turn by turn, on frames without Kafka.

What a turn writes to the topic of the state is put into the store by hand before the next one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from penstock.sdk.frames import FrameTurn, TopicRange
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.persistent.group_state import GroupState, by_group
from penstock.sql.persistent.table_join import opened
from penstock.sql.persistent.table_store import TableRow
from penstock.sql.persistent.turns import QueryTurns
from penstock.sql.statements.kinds import WindowKind
from persistent_cases import HEADERS, RECORDS, content, query_of
from project_scripts import ROOT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = sorted((ROOT / "tests/data/sql").glob("aggregates*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]
STATE = "state"


class Turns:
    """The turns of one case, one after the other."""

    def __init__(self, spark: SparkSession, case: dict[str, Any], folder: Path) -> None:
        stored = vars(query_of(spark, case)) | {"state_topic": STATE, "store": "q"}
        self.query = PersistentQuery(**stored)
        self._spark = spark
        self._store = folder / "q" / "groups"
        self._turns = QueryTurns(self.query, str(folder))
        self.offsets: dict[int, int] = {}

    def run(self, given: list[list[Any]]) -> list[Any]:
        """What comes out of a turn; what of it is state is stored."""
        rows = [self._record(*each) for each in given]
        partitions = sorted({row[4] for row in rows})
        ranges = tuple(self._range(p, rows) for p in partitions)
        turn = FrameTurn("Q", ranges, small=True)
        out = self._turns.build(self._frame(rows), turn).collect()
        self._keep([row for row in out if row.topic == STATE])
        return [row for row in out if row.topic != STATE]

    def _record(
        self, key: str | None, value: Any, time: int = 1000, partition: int = 0
    ) -> tuple[Any, ...]:
        offset = self.offsets.get(partition, 0)
        self.offsets[partition] = offset + 1
        raw = None if key is None else bytearray(key.encode())
        topic = self.query.sources[0].topic
        return (7, raw, content(value), topic, partition, offset, time)

    def _range(self, partition: int, rows: list[tuple[Any, ...]]) -> TopicRange:
        mine = [row[5] for row in rows if row[4] == partition]
        return TopicRange(rows[0][3], partition, min(mine), max(mine) + 1)

    def _frame(self, rows: list[tuple[Any, ...]]) -> DataFrame:
        frame = self._spark.createDataFrame(rows, RECORDS)
        return frame.selectExpr("*", "timestamp_millis(ms) AS timestamp", HEADERS).drop("ms")

    def _keep(self, rows: list[Any]) -> None:
        window = self.query.sink.window
        state = GroupState(
            opened(self._store), None, by_group if window is WindowKind.SESSION else None
        )
        with opened(self._store).writing() as store:
            for row in rows:
                value = None if row.value is None else bytes(row.value)
                state.keep(store, [TableRow(0, 0, 0, bytes(row.key), value)])

    def stored(self) -> int:
        """How many groups are kept."""
        return len(opened(self._store).keys(b"g", b"h", 1000))


def shown(query: PersistentQuery, row: Any) -> list[Any]:
    """A record as the data files have it: of a window, ``key@start``, of a session
    ``key@start-end``."""
    key, length = bytes(row.key), query.sink.window_bytes
    begin = len(key) - length
    ends = [str(int.from_bytes(key[n : n + 8], "big")) for n in range(begin, len(key), 8)]
    window = f"@{'-'.join(reversed(ends))}" if length else ""
    value = None if row.value is None else json.loads(bytes(row.value))
    return [key[:begin].decode() + window, value]
