"""Every statement of the data file is what it says; every mistake is told with its place."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from penstock.sql.errors import StatementError, SyntaxProblem
from penstock.sql.grammar.parser import parse, parse_piece
from penstock.sql.grammar.splitting import is_complete, pieces
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.connectors import CreateConnector
from penstock.sql.statements.queries import Select
from penstock.sql.statements.types import ColumnDef
from project_scripts import ROOT

DATA = ROOT / "tests/data/sql"


def cases(file: str) -> list[Any]:
    found: list[dict[str, Any]] = yaml.safe_load((DATA / file).read_text())
    return [pytest.param(case, id=" ".join(case["sql"].split())[:60]) for case in found]


def plain(value: Any) -> Any:
    if isinstance(value, ColumnDef):
        return f"{value.name} {value.type} {value.role}".strip()
    return [plain(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("case", cases("statements.yaml"))
def test_a_statement_is_what_it_says(case: dict[str, Any]) -> None:
    statement = parse(case["sql"])
    assert type(statement).__name__ == case["is"]
    wanted = {key: value for key, value in case.items() if key not in ("sql", "is")}
    assert {key: plain(getattr(statement, key)) for key in wanted} == wanted


@pytest.mark.parametrize("case", cases("mistakes.yaml"))
def test_a_mistake_is_told_with_its_place(case: dict[str, Any]) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        [parse_piece(piece) for piece in pieces(case["sql"])]
    assert [caught.value.line, caught.value.column] == case["at"]
    assert case["says"] in str(caught.value)


def test_a_mistake_is_pointed_at() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse("SELECT *\nFORM s")
    assert str(caught.value).splitlines()[1:] == ["    FORM s", "    ^"]


def expression(text: str) -> ex.Expression:
    statement = parse(f"SELECT {text} FROM s")  # noqa: S608 (that is the test)
    assert isinstance(statement, Select)
    return statement.query.items[0].expression


def test_operators_bind_as_in_sql() -> None:
    a, b, c = ex.Column("A"), ex.Column("B"), ex.Column("C")
    assert expression("a + b * c") == ex.Binary("+", a, ex.Binary("*", b, c))
    assert expression("a - b - c") == ex.Binary("-", ex.Binary("-", a, b), c)
    assert expression("a OR b AND NOT c") == ex.Binary(
        "OR", a, ex.Binary("AND", b, ex.Unary("NOT", c))
    )
    assert expression("a-b") == ex.Binary("-", a, b)


def test_keywords_are_reserved_only_where_they_are_expected() -> None:
    assert expression("key") == ex.Column("KEY")
    assert expression("t.stream") == ex.Column("STREAM", "T")
    assert expression("connector") == ex.Column("CONNECTOR")


def test_variables_and_references_to_providers_in_one_statement() -> None:
    text = """CREATE SOURCE CONNECTOR ${name} WITH (
        'connector.class' = '${class}', url = jdbc:x://${host}/db, pw = '${file:/a b:c}');"""
    statement = parse(text, {"NAME": "jdbc", "class": "x.Y", "host": "h:1"})
    assert isinstance(statement, CreateConnector)
    assert statement.name == "jdbc"
    assert dict(statement.properties) == {
        "connector.class": "x.Y",
        "url": "jdbc:x://h:1/db",
        "pw": "${file:/a b:c}",
    }


def test_a_variable_is_one_expression_and_no_more() -> None:
    where = parse("SELECT * FROM ${s} WHERE id = ${n}", {"s": "users", "n": "1 + 2"})
    assert isinstance(where, Select)
    assert where.query.relation.source == "USERS"
    with pytest.raises(SyntaxProblem):
        parse("SELECT * FROM s WHERE id = ${n}", {"n": "1; DROP STREAM s"})


def test_an_unknown_variable_is_told_with_the_nearest() -> None:
    with pytest.raises(StatementError, match=r"There is no variable nmae\. Did you mean name\?"):
        parse("SELECT '${nmae}' FROM s", {"name": "x"})


def test_a_script_is_split_outside_of_texts_and_comments() -> None:
    script = "SET 'a;b'='c'; -- d;\nSHOW /* ; */ STREAMS; SELECT"
    assert [piece.text for piece in pieces(script)] == [
        "SET 'a;b'='c'",
        "SHOW /* ; */ STREAMS",
        "SELECT",
    ]
    assert not is_complete(script)
    assert is_complete("SHOW STREAMS; -- done")
