"""Persistent queries without brokers and Spark: plans, what is refused, and how they are kept."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from aggregate_cases import CASES as AGGREGATES
from pair_cases import CASES as PAIRS
from penstock.sql.catalog.query import DEFINITION, PersistentQuery
from penstock.sql.catalog.source import Source
from penstock.sql.errors import SqlError
from penstock.sql.grammar.parser import parse
from penstock.sql.persistent import table_join
from penstock.sql.persistent.connector import PersistentQueryConnector
from penstock.sql.persistent.table_reading import canonical
from penstock.sql.persistent.table_store import TableRow, TableStore
from penstock.sql.statements.kinds import SourceKind, WindowKind
from penstock.sql.statements.queries import Explain
from persistent_cases import BY_SPARK, CASES, plan_of, statement_of
from played_connect import PlayedConnect
from query_cases import declared, title

EVERY = [*CASES, *AGGREGATES, *PAIRS]
PURE = [case for case in EVERY if "says" in case and not case["says"].startswith(BY_SPARK)]


@pytest.mark.parametrize("case", PURE, ids=title)
def test_what_cannot_persist_is_told(case: dict[str, Any]) -> None:
    with pytest.raises(SqlError) as caught:
        plan_of(case)
    assert case["says"] in str(caught.value)


@pytest.mark.parametrize("case", [case for case in EVERY if "says" not in case], ids=title)
def test_a_plan_reads_only_columns_that_are_in_use(case: dict[str, Any]) -> None:
    plan = plan_of(case)
    assert plan.values
    known = {column.name for source in plan.sources for column in source.columns}
    assert {name for _, name in plan.used} <= {*known, "ROWTIME", "ROWOFFSET", "ROWPARTITION"}


def query(sql: str = "CREATE STREAM o AS SELECT k, a FROM s") -> PersistentQuery:
    source = declared("CREATE STREAM s (k VARCHAR KEY, a VARCHAR) WITH (kafka_topic='s')")
    sink = declared("CREATE STREAM o (k VARCHAR KEY, a VARCHAR) WITH (kafka_topic='o')")
    return PersistentQuery("CSAS_O_1", sql, (source,), sink, {"v": "1"}, {}, "a-store")


def test_a_query_is_in_its_connectors_config_without_references() -> None:
    told = query("CREATE STREAM o AS SELECT k, '${file:/etc/passwd:x}' AS a FROM s")
    config = told.connector_config(3)
    assert "${" not in config[DEFINITION]
    assert PersistentQuery.of_config(config) == told
    assert PersistentQuery.from_json(json.loads(json.dumps(told.to_json()))) == told
    assert (config["topics"], config["tasks.max"]) == ("s", "3")


@pytest.mark.parametrize("kind", SourceKind)
@pytest.mark.parametrize("window", [None, *WindowKind])
def test_a_source_is_stored_with_the_words_of_its_kind(
    kind: SourceKind, window: WindowKind | None
) -> None:
    source = Source(kind, "S", "t", (), window=window)
    stored = json.loads(json.dumps(source.to_json()))
    assert (stored["kind"], stored["window"]) == (kind.value, window.value if window else "")
    again = Source.from_json(stored)
    assert again == source
    assert again.kind is kind
    assert again.window is window


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"sources": [], "sink": null}'])
def test_what_is_no_query_is_refused(text: str) -> None:
    ((key, told),) = PersistentQueryConnector().validate({DEFINITION: text})
    assert key == DEFINITION
    assert "Persistent queries are created in SQL" in told


def test_a_query_is_valid_as_it_was_stored() -> None:
    assert PersistentQueryConnector().validate(query().connector_config(1)) == ()


def test_a_query_that_cannot_be_planned_is_refused() -> None:
    config = query("CREATE STREAM o AS SELECT k, b FROM s").connector_config(1)
    ((_, told),) = PersistentQueryConnector().validate(config)
    assert "There is no column B" in told


def test_a_query_that_persists_can_be_explained() -> None:
    created = parse("EXPLAIN CREATE STREAM o AS SELECT k, a FROM s")
    assert isinstance(created, Explain)
    assert created.sink == "O"
    assert created.query == statement_of({"sql": query().statement}).query
    inserted = parse("EXPLAIN INSERT INTO p SELECT k, a FROM s")
    assert isinstance(inserted, Explain)
    assert inserted.sink == "P"


def test_show_connectors_leaves_queries_out(connect: PlayedConnect, typed: Any) -> None:
    connect.create("CSAS_O_1", query().connector_config(1))
    assert "CSAS_O_1" not in typed("SHOW CONNECTORS;")


# Tables on disk.


def row(key: bytes, value: bytes | None, offset: int = 0) -> tuple[bytes, TableRow]:
    return key, TableRow(2, offset, 77, key, value)


def test_a_store_has_the_last_row_of_each_key_and_its_position(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "t")
    assert store.positions() == {}
    with store.writing() as writing:
        writing.put([row(b"a", b"1"), row(b"b", b"2"), row(b"a", b"3", 5), row(b"b", None)])
        assert writing.found(b"a") == TableRow(2, 5, 77, b"a", b"3")
        writing.move({2: 6, 300: 1 << 40})
    store.close()
    again = TableStore(tmp_path / "t")
    assert again.found([b"a", b"b", None, b"c"]) == [row(b"a", b"3", 5)[1], None, None, None]
    assert again.positions() == {2: 6, 300: 1 << 40}
    with again.writing() as writing:
        writing.clear()
    assert (again.positions(), again.found([b"a"])) == ({}, [None])
    again.close()


def test_what_is_not_finished_is_not_stored(tmp_path: Path) -> None:
    store = TableStore(tmp_path)

    def broken() -> None:
        with store.writing() as writing:
            writing.put([row(b"a", b"1")])
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert (store.positions(), store.found([b"a"])) == ({}, [None])
    store.close()


def test_keys_of_any_length_and_content(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    keys = [b"", b"p\0\0\0\0", b"x" * 500, b"x" * 501, b"x" * 100_000, bytes(range(256))]
    with store.writing() as writing:
        writing.put(row(key, b"%d" % len(key)) for key in keys)
    assert store.found(keys) == [row(key, b"%d" % len(key))[1] for key in keys]
    assert store.positions() == {}
    store.close()


def test_json_keys_have_one_form() -> None:
    forms = (b'"a"', b' "a" ', b'{"schema": {"type": "string"}, "payload": "a"}')
    assert {canonical(form) for form in forms} == {b'"a"'}
    assert canonical(b'{"b": 1, "a": 2}') == canonical(b'{"a":2,"b":1}')
    assert canonical(b"no JSON") == b"no JSON"


def test_numbers_in_json_keys_are_compared_by_all_their_digits() -> None:
    for one, other in ((b"5", b"5.00"), (b"1.50", b"1.5"), (b"100000", b"1.0E5")):
        assert canonical(one) == canonical(other)
    assert canonical(b'{"a": 1, "b": 2.50}') == canonical(b'{"b": 2.5, "a": 1.0}')
    whole = b"12345678901234567890123456789012345678"
    assert canonical(whole) != canonical(whole[:-1] + b"9")
    assert canonical(b"0." + whole) != canonical(b"0." + whole[:-1] + b"9")
    assert canonical(b"9007199254740993") != canonical(b"9007199254740992.0")


def test_a_table_that_nobody_uses_any_more_is_deleted(tmp_path: Path) -> None:
    old, fresh = (tmp_path / name / "0" for name in ("old", "fresh"))
    for folder in (old, fresh):
        TableStore(folder).close()
    long_ago = time.time() - table_join.UNUSED_SECONDS - 60
    os.utime(old / "data.mdb", (long_ago, long_ago))
    store = table_join.opened(tmp_path / "new" / "0")
    assert not old.exists()
    assert fresh.exists()
    assert table_join.opened(tmp_path / "new" / "0") is store
    store.close()
