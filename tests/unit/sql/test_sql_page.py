"""docs/sql.md has an example of every kind of statement that works."""

from __future__ import annotations

from penstock.sql.grammar.parser import parse_piece
from penstock.sql.grammar.splitting import pieces
from penstock.sql.statements.connectors import ConnectorStatement
from penstock.sql.statements.queries import QueryStatement
from penstock.sql.statements.settings import RunScript, SessionStatement
from penstock.sql.statements.sources import SourceStatement
from sql_page import examples

WITHOUT_EXAMPLE = {RunScript}


def test_every_statement_that_works_has_an_example() -> None:
    parts = (ConnectorStatement, SourceStatement, QueryStatement, SessionStatement)
    every = {kind for part in parts for kind in part.__args__}
    variables = {"folder": "/x", "topic": "t"}
    shown = {
        type(parse_piece(piece, variables).statement)
        for example in examples()
        for piece in pieces(example.script)
    }
    assert every - shown == WITHOUT_EXAMPLE
