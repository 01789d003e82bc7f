"""A table's store when its topic is not what it was. The topic is played: real ones do not fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.range_reader import RangeGone
from penstock.sql.errors import StatementError
from penstock.sql.persistent.table_join import Lookup
from penstock.sql.persistent.table_reading import JoinedTable, TableTopic
from penstock.sql.persistent.table_store import TableRow, TableStore


class PlayedTopic(TableTopic):
    """Rows of one partition; those before ``first`` are deleted."""

    def __init__(self, *rows: tuple[bytes, bytes | None], first: int = 0) -> None:
        super().__init__(Connection(""), "played", json_keys=False, json_values=False)
        held = [TableRow(0, n, n, key, value) for n, (key, value) in enumerate(rows)]
        object.__setattr__(self, "held", held)
        object.__setattr__(self, "first", first)

    def rows(self, partition: int, start: int, stop: int) -> Iterator[list[TableRow]]:
        if start < vars(self)["first"]:
            raise RangeGone("deleted")
        yield vars(self)["held"][start:stop]

    def beginnings(self, partitions: Sequence[int]) -> dict[int, int]:
        return dict.fromkeys(partitions, vars(self)["first"])

    @property
    def end(self) -> int:
        return len(vars(self)["held"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TableStore]:
    made = TableStore(tmp_path)
    yield made
    made.close()


def looked_up(store: TableStore, topic: PlayedTopic, key: bytes, time: int) -> bytes | None:
    table = JoinedTable(store, topic, {0: topic.end}, bootstrap=True)
    table.prepare()
    (row,) = table.found([time], [key])
    return row and row.value


def test_of_equal_times_the_table_comes_first(store: TableStore) -> None:
    before = PlayedTopic((b"k", b"0"))
    assert looked_up(store, before, b"k", 0) == b"0"
    topic = PlayedTopic((b"k", b"0"), (b"k", b"1"), (b"k", b"2"), (b"k", None), (b"k", b"4"))
    table = JoinedTable(store, topic, {0: topic.end}, bootstrap=True)
    table.prepare()
    found = table.found([0, 1, 3, 2], [b"k"] * 4)
    assert [row and row.value for row in found] == [b"0", b"1", None, None]
    assert store.positions() == {0: 4}, "what comes later waits"
    table.finish()
    assert store.positions() == {0: 5}
    assert looked_up(store, topic, b"k", 0) == b"4"


A, B, C = (b"a", b"1"), (b"b", b"2"), (b"c", b"3")


def test_a_topic_that_was_made_anew_is_loaded_anew(store: TableStore) -> None:
    assert looked_up(store, PlayedTopic(A, B), b"a", 9) == b"1"
    assert looked_up(store, PlayedTopic(C), b"c", 9) == b"3"
    assert looked_up(store, PlayedTopic(C), b"a", 9) is None
    assert store.positions() == {0: 1}


def test_records_that_were_deleted_before_they_were_read(store: TableStore) -> None:
    assert looked_up(store, PlayedTopic(A), b"a", 9) == b"1"
    changed = PlayedTopic(A, B, C, first=2)
    assert looked_up(store, changed, b"c", 0) == b"3"
    assert looked_up(store, changed, b"a", 9) is None
    assert store.positions() == {0: 3}


def test_a_table_that_cannot_be_read_leaves_the_store_as_it_was(store: TableStore) -> None:
    class Broken(PlayedTopic):
        def rows(self, partition: int, start: int, stop: int) -> Iterator[list[TableRow]]:
            yield from super().rows(partition, start, start + 1)
            raise BrokerUnavailable("gone")

    with pytest.raises(BrokerUnavailable):
        looked_up(store, Broken(A, B), b"a", 9)
    assert store.positions() == {}
    assert store.found([b"a"]) == [None]
    assert looked_up(store, PlayedTopic(A, B), b"b", 0) == b"2"


@pytest.mark.parametrize(
    ("ends", "error"), [({0: 1, 1: 1}, StatementError), ({0: 1, 3: 1}, BrokerUnavailable)]
)
def test_a_partition_that_the_table_lacks(
    tmp_path: Path, ends: dict[int, int], error: type[Exception]
) -> None:
    lookup = Lookup(PlayedTopic(A), "s", ends, frozenset(), True, True, str(tmp_path))
    with pytest.raises(error, match="2"):
        lookup.table(2)
