"""From the parser's tree to statements."""

from __future__ import annotations

from typing import Any

from lark import Token

from penstock.sql.grammar.building_expressions import Flag, Nodes, flagged, parts
from penstock.sql.grammar.building_queries import QueryBuilder, words
from penstock.sql.grammar.words import filled, plain
from penstock.sql.statements import asserts as aa
from penstock.sql.statements import connectors as co
from penstock.sql.statements import settings as se
from penstock.sql.statements import sources as so
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef


class StatementBuilder(QueryBuilder):
    """Adds the rules of connectors, streams, tables and the session."""

    # What many statements have.

    def if_not_exists(self, _: Nodes) -> Flag:
        return Flag("IF NOT EXISTS")

    def if_exists(self, _: Nodes) -> Flag:
        return Flag("IF EXISTS")

    def or_replace(self, _: Nodes) -> Flag:
        return Flag("OR REPLACE")

    def read_only(self, _: Nodes) -> Flag:
        return Flag("READ ONLY")

    def every(self, _: Nodes) -> Flag:
        return Flag("ALL")

    def extended(self, _: Nodes) -> Flag:
        return Flag("EXTENDED")

    def key(self, nodes: Nodes) -> str:
        return filled(plain(nodes[0].type, nodes[0]), self._variables)

    def value(self, nodes: Nodes) -> str | None:
        token = nodes[0]
        if token.type == "BARE" and token.upper() == "NULL":
            return None
        return filled(plain(token.type, token), self._variables)

    def property(self, nodes: Nodes) -> tuple[str, str | None]:
        return (nodes[0], nodes[1])

    def with_clause(self, nodes: Nodes) -> co.Properties:
        return tuple(nodes)

    # Connectors.

    def kind(self, nodes: Nodes) -> str:
        return words(nodes).lower()

    def create_connector(self, nodes: Nodes) -> co.CreateConnector:
        kind, name, properties = parts(nodes)
        exists = flagged(nodes, "IF NOT EXISTS")
        return co.CreateConnector(kind, name, properties, if_not_exists=exists)

    def from_source(self, nodes: Nodes) -> str:
        return str(nodes[0])

    def create_external(self, nodes: Nodes) -> co.CreateConnector:
        kind, name, *source, properties = nodes
        return co.CreateConnector(
            kind, name, properties, external=True, source=source[0] if source else None
        )

    def show_connectors(self, nodes: Nodes) -> co.ShowConnectors:
        return co.ShowConnectors(nodes[0] if nodes else "")

    def external_kind(self, nodes: Nodes) -> str:
        return words(nodes).lower().removesuffix("s")

    def show_external(self, nodes: Nodes) -> co.ShowConnectors:
        return co.ShowConnectors(nodes[0], external=True)

    def describe_connector(self, nodes: Nodes) -> co.DescribeConnector:
        return co.DescribeConnector(nodes[0])

    def drop_connector(self, nodes: Nodes) -> co.DropConnector:
        return co.DropConnector(parts(nodes)[0], flagged(nodes, "IF EXISTS"))

    def terminate(self, _: Nodes) -> Flag:
        return Flag("TERMINATE")

    def drop_external(self, nodes: Nodes) -> co.DropConnector:
        kind, name = parts(nodes)
        return co.DropConnector(
            name, kind=kind, external=True, terminate=flagged(nodes, "TERMINATE")
        )

    def alter_connector(self, nodes: Nodes) -> co.AlterConnector:
        return co.AlterConnector(nodes[0], tuple(nodes[1:]))

    def alter_unset(self, nodes: Nodes) -> co.AlterConnector:
        return co.AlterConnector(nodes[0], tuple((key, None) for key in nodes[1:]))

    def change_verb(self, nodes: Nodes) -> str:
        return words(nodes).lower()

    def include_tasks(self, _: Nodes) -> Flag:
        return Flag("INCLUDE TASKS")

    def only_failed(self, _: Nodes) -> Flag:
        return Flag("ONLY FAILED")

    def change_connector(self, nodes: Nodes) -> co.ChangeConnector:
        verb, name = parts(nodes)
        return co.ChangeConnector(
            verb, name, flagged(nodes, "INCLUDE TASKS"), flagged(nodes, "ONLY FAILED")
        )

    def show_plugins(self, _: Nodes) -> co.ShowPlugins:
        return co.ShowPlugins()

    def show_offsets(self, nodes: Nodes) -> co.ShowOffsets:
        return co.ShowOffsets(nodes[0])

    def offset(self, nodes: Nodes) -> tuple[str, str | None]:
        partition, *offset = nodes
        return (self._text(partition), self._text(offset[0]) if offset else None)

    def alter_offsets(self, nodes: Nodes) -> co.AlterOffsets:
        return co.AlterOffsets(nodes[0], tuple(nodes[1:]))

    def reset_offsets(self, nodes: Nodes) -> co.ResetOffsets:
        return co.ResetOffsets(nodes[0])

    # Streams, tables and types.

    def source_kind(self, nodes: Nodes) -> SourceKind:
        return SourceKind(words(nodes))

    def column_role(self, nodes: Nodes) -> list[str]:
        texts = [self._text(node) for node in nodes if node.type == "STRING"]
        named = [node for node in nodes if node.type not in ("STRING", "LPAR", "RPAR")]
        return [words(named), *texts]

    def column_def(self, nodes: Nodes) -> ColumnDef:
        name, kind, *role = nodes
        given = role[0] if role else [""]
        header = given[1] if given[1:] else ""
        return ColumnDef(name, kind, "HEADERS" if given[0] == "HEADER" else given[0], header)

    def columns(self, nodes: Nodes) -> list[ColumnDef]:
        return nodes

    def create_source(self, nodes: Nodes) -> so.CreateSource:
        kind, name, *columns, properties = parts(nodes)
        return so.CreateSource(
            kind,
            name,
            tuple(columns[0]) if columns else (),
            properties,
            or_replace=flagged(nodes, "OR REPLACE"),
            if_not_exists=flagged(nodes, "IF NOT EXISTS"),
            read_only=flagged(nodes, "READ ONLY"),
        )

    def create_from_connector(self, nodes: Nodes) -> so.CreateSource:
        kind, name, *rest = parts(nodes)
        columns = next((tuple(each) for each in rest if isinstance(each, list)), ())
        properties = next((each for each in rest if isinstance(each, tuple)), ())
        connector = next(each for each in rest if isinstance(each, str))
        return so.CreateSource(
            kind,
            name,
            columns,
            properties,
            or_replace=flagged(nodes, "OR REPLACE"),
            if_not_exists=flagged(nodes, "IF NOT EXISTS"),
            connector=connector,
        )

    def delete_topic(self, _: Nodes) -> Flag:
        return Flag("DELETE TOPIC")

    def drop_source(self, nodes: Nodes) -> so.DropSource:
        kind, name = parts(nodes)
        exists, topic = flagged(nodes, "IF EXISTS"), flagged(nodes, "DELETE TOPIC")
        return so.DropSource(kind, name, exists, topic)

    def add_columns(self, nodes: Nodes) -> so.AddColumns:
        return so.AddColumns(nodes[0], nodes[1], tuple(nodes[2:]))

    def shown(self, nodes: Nodes) -> str:
        return words(nodes)

    def show(self, nodes: Nodes) -> so.Show:
        return so.Show(parts(nodes)[0], flagged(nodes, "EXTENDED"), flagged(nodes, "ALL"))

    def describe(self, nodes: Nodes) -> so.Describe:
        return so.Describe(parts(nodes)[0], flagged(nodes, "EXTENDED"))

    def described(self, nodes: Nodes) -> str:
        return words(nodes)

    def describe_all(self, nodes: Nodes) -> so.DescribeAll:
        return so.DescribeAll(parts(nodes)[0], flagged(nodes, "EXTENDED"))

    def create_type(self, nodes: Nodes) -> so.CreateType:
        name, kind = parts(nodes)
        return so.CreateType(name, kind, flagged(nodes, "IF NOT EXISTS"))

    def drop_type(self, nodes: Nodes) -> so.DropType:
        return so.DropType(parts(nodes)[0], flagged(nodes, "IF EXISTS"))

    # Tests.

    def assert_values(self, nodes: Nodes) -> aa.AssertValues:
        source, *names, row = nodes
        return aa.AssertValues(source, tuple(names[0]) if names else (), row)

    def assert_tombstone(self, nodes: Nodes) -> aa.AssertValues:
        source, *names, row = nodes
        return aa.AssertValues(source, tuple(names[0]) if names else (), row, tombstone=True)

    def assert_source(self, nodes: Nodes) -> aa.AssertSource:
        kind, name, *rest = nodes
        columns = next((tuple(each) for each in rest if isinstance(each, list)), ())
        properties = next((each for each in rest if isinstance(each, tuple)), ())
        return aa.AssertSource(kind, name, columns, properties)

    # The session.

    def set(self, nodes: list[Token]) -> se.SetProperty:
        return se.SetProperty(*map(self._text, nodes))

    def unset(self, nodes: list[Token]) -> se.UnsetProperty:
        return se.UnsetProperty(self._text(nodes[0]))

    def define(self, nodes: list[Token]) -> se.Define:
        return se.Define(str(nodes[0]), self._text(nodes[1]))

    def undefine(self, nodes: list[Token]) -> se.Undefine:
        return se.Undefine(str(nodes[0]))

    def run_script(self, nodes: list[Token]) -> se.RunScript:
        return se.RunScript(self._text(nodes[0]))

    def __default__(self, data: str, children: Nodes, meta: Any) -> Any:
        raise AssertionError(f"the rule {data} builds nothing")
