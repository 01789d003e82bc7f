"""The first load of a table in ranges, on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

import pytest

from penstock.plugins.databases import first_load
from penstock.plugins.databases.first_load import LoadRange
from penstock.plugins.databases.jdbc_source import JdbcSourceConnector
from penstock.sdk import OffsetError, SourceConnector
from penstock.sdk.offsets import canonical
from penstock.sdk.testing import SourceUnderTest
from penstock.sdk.testing.played_source import PlayedSource
from penstock.sdk.testing.source_contract import assert_all_once
from tables import Tables

ROWS = 1000


class NumberedTable(SourceUnderTest):
    """Numbers with gaps, in a table that is worth a parallel load."""

    connector: ClassVar[type[SourceConnector]] = JdbcSourceConnector

    def __init__(self, tables: Tables) -> None:
        self._tables, self._more = tables, dict[str, str]()
        tables.run("CREATE TABLE numbers (id bigint PRIMARY KEY, n int)")
        self._next = count(-50, 3)

    def config(self) -> Mapping[str, str]:
        return {
            **self._tables.config(
                mode="incrementing",
                incrementing_column_name="id",
                topic_prefix="t-",
                schema_pattern=self._tables.schema,
                poll_interval_ms="5",
                batch_max_rows="90",
            ),
            **self._more,
        }

    def write(self, numbers: Sequence[int]) -> None:
        ids = [next(self._next) for _ in numbers]
        rows = "INSERT INTO numbers SELECT unnest(%s::bigint[]), unnest(%s::int[])"
        self._tables.run(rows, ids, list(numbers))

    def number(self, value: Any) -> int:
        return int(value["n"])

    def become(self, **more: str) -> None:
        """Change the configuration."""
        self._more = {key.replace("_", "."): value for key, value in more.items()}


@pytest.fixture
def source(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> NumberedTable:
    monkeypatch.setattr(first_load, "WORTH_IT", ROWS)
    made = NumberedTable(tables)
    made.write(range(ROWS))
    return made


def _ranges(worker: PlayedSource) -> list[str]:
    return sorted(p["range"] for p, _ in worker.reader() if "range" in p)


def _finished(worker: PlayedSource, tables: Tables, last: int) -> bool:
    partition = {"protocol": "1", "table": f"{tables.schema}.numbers"}
    return list(worker.reader()) == [(partition, {"incrementing": last})]


def test_ranges_cover_everything_once() -> None:
    for low, high, parts in ((-50, 2949, 4), (0, 6, 7), (5, 11, 3), (-(2**63), 2**63 - 1, 5)):
        ranges = LoadRange(0, parts, low, high).siblings()
        assert ranges[0].after == low - 1
        assert ranges[-1].until == high
        assert [r.until for r in ranges[:-1]] == [r.after for r in ranges[1:]]


def test_tasks_share_the_load_and_one_offset_remains(source: NumberedTable, tables: Tables) -> None:
    worker = PlayedSource(source, tasks=4)
    worker.turn(polls=1)
    assert _ranges(worker) == ["0/4", "1/4", "2/4", "3/4"]
    assert len(worker.delivered) == 4 * 90
    worker.turn()
    worker.turn()
    assert_all_once(worker, range(ROWS))
    assert _finished(worker, tables, -50 + 3 * (ROWS - 1))
    source.write(range(ROWS, ROWS + 10))
    assert worker.look()
    worker.turn()
    assert_all_once(worker, range(ROWS + 10))
    assert _finished(worker, tables, -50 + 3 * (ROWS + 9))
    assert not worker.look()


@pytest.mark.heavy
@pytest.mark.parametrize("tasks", [[4, 2, 3, 1], [2, 4, 1, 5]])
def test_killed_again_and_again_with_other_numbers_of_tasks(
    source: NumberedTable, tables: Tables, tasks: list[int]
) -> None:
    """Also between the end of the last range and that of the load."""
    worker = PlayedSource(source)
    for number in tasks:
        worker.tasks = number
        worker.turn(polls=2, killed=True)
    source.write(range(ROWS, ROWS + 100))
    for _ in range(20):
        worker.turn(polls=1, killed=True)
        worker.turn(polls=1)
    worker.turn()
    worker.turn()
    worker.turn()
    assert_all_once(worker, range(ROWS + 100))
    assert _finished(worker, tables, -50 + 3 * (ROWS + 99))


def _alter(worker: PlayedSource, *altered: tuple[Any, Any]) -> None:
    connector = worker.source.connector()
    connector.committed = worker.reader()
    stored = connector.alter_offsets(dict(worker.source.config()), altered)
    assert not isinstance(stored, bool)
    for partition, offset in stored:
        worker.offsets.pop(canonical(partition), None)
        if offset is not None:
            worker.offsets[canonical(partition)] = partition, offset


def test_an_offset_of_the_table_ends_the_load(source: NumberedTable, tables: Tables) -> None:
    worker = PlayedSource(source, tasks=3)
    worker.turn(polls=1)
    partition = {"protocol": "1", "table": f"{tables.schema}.numbers"}
    _alter(worker, (partition, {"incrementing": -50 + 3 * 989}))
    worker.delivered = []
    worker.turn()
    assert worker.delivered == list(range(990, ROWS))
    assert _finished(worker, tables, -50 + 3 * (ROWS - 1))


def test_a_reset_begins_the_load_anew(source: NumberedTable, tables: Tables) -> None:
    worker = PlayedSource(source, tasks=3)
    worker.turn(polls=1)
    _alter(worker, *((partition, None) for partition, _ in worker.reader()))
    worker.delivered = []
    worker.turn()
    worker.turn()
    assert_all_once(worker, range(ROWS))


def test_offsets_that_were_listed_can_be_set_again(source: NumberedTable, tables: Tables) -> None:
    worker = PlayedSource(source, tasks=3)
    worker.turn(polls=1)
    listed, read = list(worker.reader()), list(worker.delivered)
    worker.turn()
    worker.turn()
    _alter(worker, *((partition, None) for partition, _ in worker.reader()))
    _alter(worker, *listed)
    worker.delivered = []
    worker.turn()
    worker.turn()
    assert_all_once(worker, set(range(ROWS)) - set(read))
    with pytest.raises(OffsetError, match="can only be set to what it was"):
        _alter(worker, (listed[0][0], {"incrementing": 4}))


def test_another_mode_forgets_the_load(source: NumberedTable, tables: Tables) -> None:
    worker = PlayedSource(source, tasks=3)
    worker.turn(polls=1)
    source.become(mode="bulk", poll_interval_ms="600000")
    worker.delivered = []
    worker.turn()
    assert_all_once(worker, range(ROWS))
    assert _ranges(worker) == []


def test_small_tables_and_as_many_tables_as_tasks_are_read_as_a_whole(
    source: NumberedTable, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = PlayedSource(source, tasks=1)
    worker.turn(polls=1)
    assert _ranges(worker) == []
    worker.offsets = {}
    monkeypatch.setattr(first_load, "WORTH_IT", 3 * ROWS)
    worker.tasks = 4
    worker.turn(polls=1)
    assert _ranges(worker) == []
