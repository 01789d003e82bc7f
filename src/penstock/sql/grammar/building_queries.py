"""From the parser's tree to queries."""

from __future__ import annotations

from typing import Any

from penstock.sql.grammar.building_expressions import (
    ExpressionBuilder,
    Flag,
    Nodes,
    flagged,
    parts,
)
from penstock.sql.statements import expressions as ex
from penstock.sql.statements import queries as qu
from penstock.sql.statements.kinds import JoinKind, WindowKind


def words(nodes: Nodes) -> str:
    """Tokens as one text in upper case."""
    return " ".join(str(node).upper() for node in nodes)


class QueryBuilder(ExpressionBuilder):
    """Adds the rules of queries and of the statements that hold one."""

    def item(self, nodes: Nodes) -> qu.Item:
        return qu.Item(*nodes)

    def every_column(self, _: Nodes) -> qu.Item:
        return qu.Item(ex.Star())

    def every_column_of(self, nodes: Nodes) -> qu.Item:
        return qu.Item(ex.Star(nodes[0]))

    def relation(self, nodes: Nodes) -> qu.Relation:
        return qu.Relation(*nodes)

    def derived(self, nodes: Nodes) -> qu.Relation:
        return qu.Relation(*nodes)

    def join_kind(self, nodes: Nodes) -> Flag:
        return Flag(str(nodes[0]).upper())

    def duration(self, nodes: Nodes) -> str:
        return words(nodes)

    def grace(self, nodes: Nodes) -> str:
        return str(nodes[0])

    def within(self, nodes: Nodes) -> qu.Within:
        size, *grace = nodes
        return qu.Within(size, size, *grace)

    def within_both(self, nodes: Nodes) -> qu.Within:
        return qu.Within(*nodes)

    def join(self, nodes: Nodes) -> qu.Join:
        kinds = [node for node in nodes if isinstance(node, Flag)]
        within = [node for node in nodes if isinstance(node, qu.Within)]
        relation, on = [n for n in parts(nodes) if not isinstance(n, qu.Within)]
        kind = JoinKind(str(kinds[0])) if kinds else JoinKind.INNER
        return qu.Join(kind, relation, on, within[0] if within else None)

    def window_kind(self, nodes: Nodes) -> WindowKind:
        return WindowKind(words(nodes))

    def window_size(self, nodes: Nodes) -> tuple[str, str]:
        *name, size = nodes
        return (words(name), size)

    def window(self, nodes: Nodes) -> qu.Window:
        kind, *sizes = nodes
        return qu.Window(kind, tuple(sizes))

    def where(self, nodes: Nodes) -> dict[str, Any]:
        return {"where": nodes[0]}

    def group_by(self, nodes: Nodes) -> dict[str, Any]:
        return {"group_by": tuple(nodes)}

    def partition_by(self, nodes: Nodes) -> dict[str, Any]:
        return {"partition_by": tuple(nodes)}

    def having(self, nodes: Nodes) -> dict[str, Any]:
        return {"having": nodes[0]}

    def direction(self, nodes: Nodes) -> Flag:
        return Flag(words(nodes))

    def ordering(self, nodes: Nodes) -> qu.Ordering:
        return qu.Ordering(nodes[0], flagged(nodes, "DESC"))

    def order_by(self, nodes: Nodes) -> dict[str, Any]:
        return {"order_by": tuple(nodes)}

    def emitted(self, nodes: Nodes) -> str:
        return words(nodes)

    def emit(self, nodes: Nodes) -> dict[str, Any]:
        return {"emit": nodes[0]}

    def limit(self, nodes: Nodes) -> dict[str, Any]:
        return {"limit": int(nodes[0])}

    def query(self, nodes: Nodes) -> qu.Query:
        clauses: dict[str, Any] = {"distinct": flagged(nodes, "DISTINCT")}
        for node in nodes:
            clauses |= node if isinstance(node, dict) else {}
        windows = [node for node in nodes if isinstance(node, qu.Window)]
        return qu.Query(
            tuple(node for node in nodes if isinstance(node, qu.Item)),
            next(node for node in nodes if isinstance(node, qu.Relation)),
            tuple(node for node in nodes if isinstance(node, qu.Join)),
            window=windows[0] if windows else None,
            **clauses,
        )

    # Statements.

    def select(self, nodes: Nodes) -> qu.Select:
        return qu.Select(nodes[0])

    def create_as(self, nodes: Nodes) -> qu.CreateAs:
        kind, name, *rest = parts(nodes)
        return qu.CreateAs(
            kind,
            name,
            rest[0] if len(rest) > 1 else (),
            rest[-1],
            or_replace=flagged(nodes, "OR REPLACE"),
            if_not_exists=flagged(nodes, "IF NOT EXISTS"),
        )

    def insert_select(self, nodes: Nodes) -> qu.InsertSelect:
        return qu.InsertSelect(nodes[0], nodes[-1], nodes[1] if len(nodes) > 2 else ())

    def names(self, nodes: Nodes) -> list[str]:
        return nodes

    def row(self, nodes: Nodes) -> tuple[Any, ...]:
        return tuple(nodes)

    def insert_values(self, nodes: Nodes) -> qu.InsertValues:
        target, *rest = nodes
        columns = tuple(rest[0]) if isinstance(rest[0], list) else ()
        rows = tuple(each for each in rest if isinstance(each, tuple))
        return qu.InsertValues(target, columns, rows)

    def explain(self, nodes: Nodes) -> qu.Explain:
        return qu.Explain(nodes[0])

    def explain_persistent(self, nodes: Nodes) -> qu.Explain:
        statement = nodes[0]
        is_insert = isinstance(statement, qu.InsertSelect)
        sink = statement.target if is_insert else statement.name
        return qu.Explain(statement.query, sink=sink)

    def explain_id(self, nodes: Nodes) -> qu.Explain:
        return qu.Explain(None, nodes[0])

    def from_beginning(self, _: Nodes) -> dict[str, Any]:
        return {"from_beginning": True}

    def interval(self, nodes: Nodes) -> dict[str, Any]:
        return {"interval": int(nodes[0])}

    def print_limit(self, nodes: Nodes) -> dict[str, Any]:
        return {"limit": int(nodes[0])}

    def print_topic(self, nodes: Nodes) -> qu.PrintTopic:
        topic, *given = nodes
        options: dict[str, Any] = {}
        for each in given:
            options |= each
        return qu.PrintTopic(topic, **options)

    def query_verb(self, nodes: Nodes) -> str:
        return words(nodes).lower()

    def change_query(self, nodes: Nodes) -> qu.ChangeQuery:
        return qu.ChangeQuery(nodes[0], str(nodes[1]))
