"""Texts into statements.

``parse_script`` gives the statements one by one, so that what an earlier one defines holds for the
next, and what comes before a mistake is still run, as in any script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lark import Lark, Tree, UnexpectedInput
from lark.exceptions import VisitError
from lark.lexer import Token

from penstock.sql.errors import SqlError
from penstock.sql.grammar.building import StatementBuilder
from penstock.sql.grammar.masking import masked
from penstock.sql.grammar.problems import problem_of
from penstock.sql.grammar.rules import GRAMMAR
from penstock.sql.grammar.splitting import Piece, pieces
from penstock.sql.statements.expressions import Expression
from penstock.sql.statements.statement import Statement

Variables = Mapping[str, str]
NONE: Variables = {}


@dataclass(frozen=True)
class Parsed:
    """A statement, and its text as it may be shown and kept: without the values of configs."""

    statement: Statement
    masked: str


@lru_cache(maxsize=1)
def grammar() -> Lark:
    """The parser; making it takes a moment, so it is made once."""
    return Lark(
        GRAMMAR,
        parser="lalr",
        start=["start", "expression"],
        propagate_positions=True,
        maybe_placeholders=False,
    )


def parse_piece(piece: Piece, variables: Variables = NONE) -> Parsed:
    """One statement; SyntaxProblem with the place in the whole script."""
    tree = _tree(piece)
    return Parsed(_built(tree, variables), masked(piece.text, tree))


def masked_text(text: str) -> str:
    """One statement as it may be shown; SyntaxProblem if it is none. Variables need no value."""
    return masked(text, _tree(Piece(text, 1, 1)))


def parse(text: str, variables: Variables = NONE) -> Statement:
    """The only statement of a text."""
    return parse_piece(pieces(text)[0], variables).statement


def parse_expression(text: str) -> Expression:
    """An expression by itself, such as the value of a variable."""
    try:
        tree = grammar().parse(text, start="expression")
    except UnexpectedInput as error:
        raise problem_of(error, Piece(text, 1, 1)) from None
    expression: Expression = _transformed(tree, NONE)
    return expression


def _tree(piece: Piece) -> Tree[Token]:
    try:
        return grammar().parse(piece.text, start="start")
    except UnexpectedInput as error:
        raise problem_of(error, piece) from None


def _built(tree: Tree[Token], variables: Variables) -> Statement:
    statement: Statement = _transformed(tree, variables)
    return statement


def _transformed(tree: Tree[Token], variables: Variables) -> Any:
    try:
        return StatementBuilder(variables).transform(tree)
    except VisitError as error:
        if isinstance(error.orig_exc, SqlError):
            raise error.orig_exc from None
        raise
