"""The files of `penstock sql test`, and what ASSERT statements mean."""

from __future__ import annotations

import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import main
from penstock.sdk.errors import UserError
from penstock.sql.grammar.parser import masked_text, parse
from penstock.sql.running.asserting import comparable
from penstock.sql.statements.asserts import AssertSource, AssertValues
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.testing.cases import cases_in


def test_a_file_is_cut_at_its_tests_and_keeps_its_lines(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.sql").write_text("SHOW STREAMS;\n")
    (tmp_path / "one.sql").write_text(
        "-- a comment\n--@test: first\nSHOW TABLES;\n"
        "--@test: second\n--@expected.message: no such\nSHOW TYPES;\n"
        "--@test: third\n--@expected.error: SomeException\nSHOW TYPES;\n"
    )
    two, first, second, third = cases_in(tmp_path)
    assert (two.name, two.script.strip()) == ("two", "SHOW STREAMS;")
    assert (first.name, first.expected) == ("first", None)
    assert first.script.splitlines().index("SHOW TABLES;") == 2
    assert (second.name, second.expected) == ("second", "no such")
    assert second.script.splitlines().index("SHOW TYPES;") == 5
    assert third.expected == ""


def test_a_folder_without_tests_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no test"):
        cases_in(tmp_path)


def test_the_command_says_how_it_is_called(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # Typer has one of its own
    with pytest.raises(SystemExit) as ended:
        main(["sql", "tests", "x"])
    assert ended.value.code == 2
    assert "penstock sql test DIR" in capsys.readouterr().err


def test_assert_statements_are_parsed_and_their_values_hidden() -> None:
    values = parse("ASSERT VALUES s (a, b) VALUES (1, 'x')")
    assert isinstance(values, AssertValues)
    assert (values.source, values.columns, values.tombstone) == ("S", ("A", "B"), False)
    gone = parse("ASSERT NULL VALUES t (id) KEY ('1')")
    assert isinstance(gone, AssertValues)
    assert (gone.columns, gone.tombstone) == (("ID",), True)
    source = parse("ASSERT TABLE t (id INT PRIMARY KEY) WITH (kafka_topic='t')")
    assert isinstance(source, AssertSource)
    assert (source.kind, source.properties) == ("TABLE", (("kafka_topic", "t"),))
    assert source.columns[0].role == "PRIMARY KEY"
    assert parse("ASSERT STREAM s") == AssertSource(SourceKind.STREAM, "S", (), ())
    assert "secret" not in masked_text("ASSERT VALUES s VALUES ('secret')")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, Decimal("1.00")),
        (1.5, Decimal("1.5")),
        (86400000, datetime(1970, 1, 2)),  # noqa: DTZ001 (as Spark gives it)
        (1, date(1970, 1, 2)),
        ({"a": [1.0]}, {"a": [1]}),
        (b"x", bytearray(b"x")),
    ],
)
def test_equal_values_are_equal_however_they_came(one: Any, other: Any) -> None:
    assert comparable(one) == comparable(other)


def test_different_values_differ() -> None:
    for one, other in ((1, 2), ("1", 1), (None, 0), (1.5, 1.25)):
        assert comparable(one) != comparable(other)
