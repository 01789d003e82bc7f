"""Rows on the wire, and queries whose client goes away."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from penstock.rest.access.caller import Caller, Role
from penstock.rest.sql import running
from penstock.rest.sql.failures import Failure
from penstock.rest.sql.running import Listened, Listeners
from penstock.rest.sql.shapes import Delimited, Form, OneArray, StreamedRows, on_wire
from penstock.sql.errors import StatementError
from penstock.sql.running.results import Rows, Stop
from waiting import eventually

ANN = Caller("ann", Role.READ)


def told(form: Form, rows: Iterator[Any], note: str = "Limit Reached") -> str:
    query = Listened(Rows(("ID", "N"), ("VARCHAR", "BIGINT"), rows, note), form, ANN, "query_1")
    query.start()
    return "".join(iter(query.take, None))


def failing() -> Iterator[Any]:
    yield ("a", 1)
    raise StatementError("it broke")


def test_the_three_forms() -> None:
    rows = [("a", 1), (None, 2)]
    assert told(Delimited(), iter(rows)).splitlines() == [
        '{"queryId":"query_1","columnNames":["ID","N"],"columnTypes":["STRING","BIGINT"]}',
        '["a",1]',
        "[null,2]",
    ]
    assert json.loads(told(OneArray(), iter(rows)))[1:] == [["a", 1], [None, 2]]
    assert json.loads(told(StreamedRows(), iter(rows))) == [
        {"header": {"queryId": "query_1", "schema": "`ID` STRING, `N` BIGINT"}},
        {"row": {"columns": ["a", 1]}},
        {"row": {"columns": [None, 2]}},
        {"finalMessage": "Limit Reached"},
    ]


def test_a_query_that_fails_says_so_where_its_next_row_would_be() -> None:
    assert json.loads(told(Delimited(), failing()).splitlines()[-1])["message"] == "it broke"
    assert json.loads(told(OneArray(), failing()))[-1]["error_code"] == 40001
    *_, last = json.loads(told(StreamedRows(), failing()))
    assert last["errorMessage"]["message"] == "it broke"


def test_values_that_json_has_no_form_for() -> None:
    assert on_wire({"a": [b"x", date(2026, 1, 2), Decimal("1.50"), float("nan")]}) == {
        "a": ["eA==", "2026-01-02", 1.5, "nan"]
    }
    exact = "12345678901234567890.12"
    assert on_wire(Decimal(exact)) == exact


def endless(stop: Stop, ended: threading.Event) -> Iterator[Any]:
    number = 0
    while not stop.is_set():
        yield (number, number)
        number += 1
    ended.set()


def test_a_query_nobody_takes_rows_of_waits_and_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "AHEAD", 5)
    shown: dict[str, str] = {}
    listeners, stop, ended = Listeners(shown), Stop(), threading.Event()
    rows = Rows(("ID", "N"), ("BIGINT", "BIGINT"), endless(stop, ended), "", stop)
    query = Listened(rows, Delimited(), ANN)
    listeners.add(query, "SELECT 1")
    assert query.take()
    assert shown == {query.id: "SELECT 1"}
    with pytest.raises(Failure, match="not yours"):
        listeners.close(query.id, Caller("bob", Role.READ))
    listeners.close(query.id, ANN)
    assert ended.wait(10)
    assert shown == {}
    eventually(lambda: query.take() is None, what="the end")
    with pytest.raises(Failure, match="No query with id"):
        listeners.close(query.id, ANN)


def test_there_are_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_QUERIES", 0)
    query = Listened(Rows((), (), iter(())), Delimited(), ANN)
    with pytest.raises(Failure) as caught:
        Listeners({}).add(query, "SELECT 1")
    assert caught.value.status == 429
