"""The queries of tests/data/sql/pairs*.yaml, turn by turn, on frames without Kafka.

A turn has records of the left and of the right side: key, value, time, partition. What it writes to
the topic of the state is put into the store by hand before the next one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from penstock.sdk.connectors import TopicPartition
from penstock.sdk.frames import FrameTurn, TopicRange
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.persistent.group_state import GroupState
from penstock.sql.persistent.pair_rows import by_join_key
from penstock.sql.persistent.table_join import opened
from penstock.sql.persistent.table_store import TableRow
from penstock.sql.persistent.turns import QueryTurns
from persistent_cases import HEADERS, RECORDS, content, query_of
from project_scripts import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = sorted((ROOT / "tests/data/sql").glob("pairs*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]
STATE = "state"
Given = list[list[Any]]
Place = tuple[str, int]


class PairTurns:
    """The turns of one case, one after the other."""

    def __init__(self, spark: SparkSession, case: dict[str, Any], folder: Path) -> None:
        stored = vars(query_of(spark, case)) | {"state_topic": STATE, "store": "q", "read": 2}
        self.query = PersistentQuery(**stored)
        self._spark = spark
        self._store = folder / "q" / "groups"
        self._turns = QueryTurns(self.query, str(folder))
        self.offsets: dict[Place, int] = {}

    def run(self, left: Given = (), right: Given = (), more: Given = ()) -> list[Any]:  # type: ignore[assignment]  # an empty tuple is no list
        """What comes out of a turn; what of it is state is stored.

        ``more`` are pairs of a side and a partition that have another record, which is not read.
        """
        before = dict(self.offsets)
        rows = [
            self._record(topic, *each)
            for topic, given in zip(self.query.topics, (left, right), strict=True)
            for each in given
        ]
        places = sorted({(row[3], row[4]) for row in rows})
        ranges = tuple(TopicRange(*p, before.get(p, 0), self.offsets[p]) for p in places)
        count = max(partition for _, partition in self.offsets) + 1
        ends = {
            TopicPartition(topic, p): self.offsets.get((topic, p), 0)
            for topic in self.query.topics
            for p in range(count)
        }
        for side, partition in more:
            ends[TopicPartition(self.query.topics[side], partition)] += 1
        frame = self._spark.createDataFrame(rows, RECORDS)
        frame = frame.selectExpr("*", "timestamp_millis(ms) AS timestamp", HEADERS).drop("ms")
        turn = FrameTurn("Q", ranges, ends, small=True)
        out = self._turns.build(frame, turn).collect()
        self._keep([row for row in out if row.topic == STATE])
        return [row for row in out if row.topic != STATE]

    def _record(
        self, topic: str, key: str | None, value: Any, time: int = 1000, partition: int = 0
    ) -> tuple[Any, ...]:
        offset = self.offsets.get((topic, partition), 0)
        self.offsets[topic, partition] = offset + 1
        raw = None if key is None else bytearray(key.encode())
        return (7, raw, content(value), topic, partition, offset, time)

    def _keep(self, rows: list[Any]) -> None:
        state = GroupState(opened(self._store), None, by_join_key)
        with opened(self._store).writing() as store:
            for row in rows:
                value = None if row.value is None else bytes(row.value)
                state.keep(store, [TableRow(0, 0, 0, bytes(row.key), value)])

    def stored(self) -> int:
        """How many rows are kept."""
        store = opened(self._store)
        kept, entries = (len(store.keys(*bounds, 1000)) for bounds in ((b"g", b"h"), (b"i", b"j")))
        assert kept == entries, "there is an entry for each"
        return kept

    def stored_rows(self) -> int:
        """The same of tables."""
        return len(opened(self._store).keys(b"t", b"u", 1000))


def shown(row: Any) -> list[Any]:
    """A record as the data files have it."""
    key = None if row.key is None else bytes(row.key).decode()
    return [key, None if row.value is None else json.loads(bytes(row.value))]
