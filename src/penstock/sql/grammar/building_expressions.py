"""From the parser's tree to expressions and types."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from lark import Token, Transformer

from penstock.sql.grammar.words import Variables, filled, identifier, plain, unquoted, variable
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.types import NAMES, SIMPLE, SqlType

Nodes = list[Any]
OF_UNITS = {"DATEADD", "DATESUB", "TIMESTAMPADD", "TIMESTAMPSUB"}
"""Functions whose first argument is a word, such as DAYS, and no column."""


class Flag(str):
    """A word of the grammar that was there, such as NOT or DISTINCT."""


def flagged(children: Sequence[Any], flag: str) -> bool:
    """Whether a word was there."""
    return any(isinstance(child, Flag) and child == flag for child in children)


def parts(children: Sequence[Any]) -> list[Any]:
    """The children that are no flags."""
    return [child for child in children if not isinstance(child, Flag)]


class ExpressionBuilder(Transformer[Token, Any]):
    """A method per rule. ``variables`` are those that the text may use."""

    def __init__(self, variables: Variables) -> None:
        super().__init__()
        self._variables = variables

    # Names and texts.

    def name(self, nodes: Nodes) -> str:
        return identifier(nodes[0].type, nodes[0])

    def source_name(self, nodes: Nodes) -> str:
        token = nodes[0]
        if token.type == "VARIABLE":
            return variable(token[2:-1], self._variables).upper()
        return filled(identifier(token.type, token), self._variables)

    def connector_name(self, nodes: Nodes) -> str:
        return filled(plain(nodes[0].type, nodes[0]), self._variables)

    def _text(self, token: Token) -> str:
        return filled(unquoted(token), self._variables)

    def text(self, nodes: Nodes) -> ex.Literal:
        return ex.Literal(self._text(nodes[0]))

    def integer(self, nodes: Nodes) -> ex.Literal:
        return ex.Literal(int(nodes[0]))

    def decimal(self, nodes: Nodes) -> ex.Literal:
        return ex.Literal(Decimal(str(nodes[0])))

    def float_(self, nodes: Nodes) -> ex.Literal:
        return ex.Literal(float(nodes[0]))

    def true(self, _: Nodes) -> ex.Literal:
        return ex.Literal(True)

    def false(self, _: Nodes) -> ex.Literal:
        return ex.Literal(False)

    def null(self, _: Nodes) -> ex.Literal:
        return ex.Literal(None)

    def variable(self, nodes: Nodes) -> ex.Expression:
        """A variable stands for one expression, and cannot be more than that."""
        from penstock.sql.grammar.parser import parse_expression

        return parse_expression(variable(nodes[0][2:-1], self._variables))

    # Columns and operators.

    def column(self, nodes: Nodes) -> ex.Column:
        return ex.Column(nodes[0])

    def column_of(self, nodes: Nodes) -> ex.Column:
        return ex.Column(nodes[1], nodes[0])

    def element(self, nodes: Nodes) -> ex.Element:
        return ex.Element(*nodes)

    def field(self, nodes: Nodes) -> ex.Field:
        return ex.Field(*nodes)

    def or_(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("OR", *nodes)

    def and_(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("AND", *nodes)

    def not_(self, nodes: Nodes) -> ex.Unary:
        return ex.Unary("NOT", nodes[0])

    def negative(self, nodes: Nodes) -> ex.Unary:
        return ex.Unary("-", nodes[0])

    def positive(self, nodes: Nodes) -> ex.Expression:
        positive: ex.Expression = nodes[0]
        return positive

    def compare(self, nodes: Nodes) -> ex.Binary:
        operator = "<>" if nodes[1] == "!=" else str(nodes[1])
        return ex.Binary(operator, nodes[0], nodes[2])

    def less(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("<", *nodes)

    def greater(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary(">", *nodes)

    def equal(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("=", *nodes)

    def add(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("+", *nodes)

    def subtract(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("-", *nodes)

    def concatenate(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("||", *nodes)

    def multiply(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("*", *nodes)

    def divide(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("/", *nodes)

    def modulo(self, nodes: Nodes) -> ex.Binary:
        return ex.Binary("%", *nodes)

    def negated(self, _: Nodes) -> Flag:
        return Flag("NOT")

    def distinct(self, _: Nodes) -> Flag:
        return Flag("DISTINCT")

    def is_null(self, nodes: Nodes) -> ex.IsNull:
        return ex.IsNull(nodes[0], flagged(nodes, "NOT"))

    def distinct_from(self, nodes: Nodes) -> ex.Binary:
        operator = "IS NOT DISTINCT FROM" if flagged(nodes, "NOT") else "IS DISTINCT FROM"
        return ex.Binary(operator, *parts(nodes))

    def between(self, nodes: Nodes) -> ex.Between:
        operand, low, high = parts(nodes)
        return ex.Between(operand, low, high, flagged(nodes, "NOT"))

    def is_in(self, nodes: Nodes) -> ex.IsIn:
        operand, *values = parts(nodes)
        return ex.IsIn(operand, tuple(values), flagged(nodes, "NOT"))

    def is_in_query(self, nodes: Nodes) -> ex.IsIn:
        operand, query = parts(nodes)
        return ex.IsIn(operand, (ex.Subquery(query),), flagged(nodes, "NOT"))

    def escape(self, nodes: Nodes) -> Token:
        return Token("ESCAPE", self._text(nodes[0]))

    def like(self, nodes: Nodes) -> ex.Like:
        operand, pattern, *rest = parts(nodes)
        return ex.Like(operand, pattern, flagged(nodes, "NOT"), str(rest[0]) if rest else None)

    # What is made of expressions.

    def star(self, _: Nodes) -> ex.Star:
        return ex.Star()

    def call(self, nodes: Nodes) -> ex.Call:
        name, *arguments = nodes
        given = tuple(parts(arguments))
        if name.upper() in OF_UNITS and given and isinstance(given[0], ex.Column):
            given = (ex.Literal(given[0].name), *given[1:])
        return ex.Call(name.upper(), given, flagged(arguments, "DISTINCT"))

    def cast(self, nodes: Nodes) -> ex.Cast:
        return ex.Cast(*nodes)

    def branch(self, nodes: Nodes) -> tuple[Any, ...]:
        return tuple(nodes)

    def otherwise(self, nodes: Nodes) -> list[Any]:
        return nodes

    def case(self, nodes: Nodes) -> ex.Case:
        return self.case_of([None, *nodes])

    def case_of(self, nodes: Nodes) -> ex.Case:
        operand, *rest = nodes
        branches = tuple(each for each in rest if isinstance(each, tuple))
        otherwise = [each[0] for each in rest if isinstance(each, list)]
        return ex.Case(operand, branches, otherwise[0] if otherwise else None)

    def make_array(self, nodes: Nodes) -> ex.MakeArray:
        return ex.MakeArray(tuple(nodes))

    def entry(self, nodes: Nodes) -> tuple[Any, ...]:
        return tuple(nodes)

    def make_map(self, nodes: Nodes) -> ex.MakeMap:
        return ex.MakeMap(tuple(nodes))

    def struct_entry(self, nodes: Nodes) -> tuple[Any, ...]:
        return tuple(nodes)

    def make_struct(self, nodes: Nodes) -> ex.MakeStruct:
        return ex.MakeStruct(tuple(nodes))

    def subquery(self, nodes: Nodes) -> ex.Subquery:
        return ex.Subquery(nodes[0])

    # Types.

    def simple_type(self, nodes: Nodes) -> SqlType:
        return SqlType(_type_name(nodes[0]))

    def sized_type(self, nodes: Nodes) -> SqlType:
        name, *sizes = nodes
        numbers = [int(size) for size in sizes]
        if _type_name(name) != "DECIMAL":
            return SqlType(_type_name(name))
        return SqlType("DECIMAL", precision=(numbers[0], numbers[1] if numbers[1:] else 0))

    def holding_type(self, nodes: Nodes) -> SqlType:
        return SqlType(nodes[0].upper(), tuple(nodes[1:]))

    def struct_field(self, nodes: Nodes) -> tuple[Any, ...]:
        return tuple(nodes)

    def struct_type(self, nodes: Nodes) -> SqlType:
        return SqlType("STRUCT", fields=tuple(nodes[1:]))


def _type_name(name: str) -> str:
    upper = name.upper()
    known = NAMES.get(upper, upper)
    return known if known in SIMPLE else name
