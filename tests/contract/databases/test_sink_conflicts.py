"""What others do to a table while a JDBC sink writes to it: no record is blamed for that."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pytest

from penstock.plugins.databases.jdbc_sink_task import JdbcSinkTask
from penstock.plugins.databases.write_session import Step, WriteSession
from penstock.sdk import RecordError, RetriableError, Schema, TakenOver
from played_table_sink import UPSERT, config, records, row, sink, written
from tables import Tables
from waiting import eventually


def test_a_lock_during_the_search_for_a_bad_record_blames_nobody(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.run("CREATE TABLE orders (id int PRIMARY KEY, note varchar(8), n smallint)")
    batch = records(*map(row, range(7)), row(7, "too long a text"))
    with sink(config(tables)) as task, tables.connection() as other:
        with monkeypatch.context() as patched:
            _lock_at_attempt(2, patched, other)
            with pytest.raises(RetriableError, match="lock timeout"):
                task.put(batch)
        other.execute("ROLLBACK")
        with pytest.raises(RecordError, match="value too long") as raised:
            task.put(batch)
        assert raised.value.row == 7


def _lock_at_attempt(
    number: int, patched: pytest.MonkeyPatch, other: psycopg.Connection[tuple[object, ...]]
) -> None:
    """Another transaction inserts row 0 just before that attempt, and stays open."""
    real, attempts = WriteSession.attempt, iter(range(1, 100))

    def attempt(self: WriteSession, *steps: Step, keep: bool = True) -> BaseException | None:
        if next(attempts) == number:
            other.execute("BEGIN")
            other.execute("INSERT INTO orders VALUES (0)")
        return real(self, *steps, keep=keep)

    patched.setattr(WriteSession, "attempt", attempt)


def test_of_two_tasks_in_each_others_way_one_begins_again(tables: Tables) -> None:
    """Each holds a row that the other wants: to wait with what it holds would never end."""
    made = config(tables, auto_create="true", **UPSERT)
    written(made, records(row(1), row(2)))
    again = {**made, "name": "other"}
    with sink(made, 2, epoch=2) as one, sink(again) as two:
        one.put(records(row(1, "one"), start=2))
        two.put(records(row(2, "two")))
        with ThreadPoolExecutor(2) as threads:
            first = threads.submit(one.put, records(row(2, "one"), start=3))
            eventually(lambda: _waits(tables), what="a task that waits for the other")
            second = threads.submit(two.put, records(row(1, "two"), start=1))
            loser, winner = _ended(first, one, second, two)
        assert isinstance(loser.exception(), TakenOver)
        assert winner.exception() is None
        (one if winner is first else two).flush()
    name = "one" if winner is first else "two"
    assert tables.run("SELECT id, note FROM orders ORDER BY id") == [(1, name), (2, name)]


def _ended(
    first: Future[None], one: JdbcSinkTask, second: Future[None], two: JdbcSinkTask
) -> tuple[Future[None], Future[None]]:
    """The put that was refused, and the other, which goes on once that task has ended."""
    eventually(lambda: first.done() or second.done(), what="a deadlock that is noticed")
    loser, winner = (first, second) if first.done() else (second, first)
    (one if loser is first else two).stop()
    winner.exception(30)
    return loser, winner


def _waits(tables: Tables) -> bool:
    asked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
    return bool(tables.run(f"{asked} application_name = 'penstock'")[0][0])


def test_a_column_that_is_widened_meanwhile_takes_what_fits(tables: Tables) -> None:
    tables.run("CREATE TABLE orders (id int)")
    numbers = Schema.struct({"id": Schema.int64()})
    with sink(config(tables)) as task:
        task.put(records({"id": 1}, schema=numbers))
        task.flush()
        with pytest.raises(RecordError, match="out of range"):
            task.put(records({"id": 1 << 40}, schema=numbers, start=1))
        task.flush()
        tables.run("ALTER TABLE orders ALTER id TYPE bigint")
        task.put(records({"id": 1 << 40}, schema=numbers, start=1))
        task.flush()
    assert tables.run("SELECT id FROM orders ORDER BY id") == [(1,), (1 << 40,)]
