"""A session: statements one after the other, with the variables and properties they set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.sql.connecting.names import find_connector
from penstock.sql.errors import NotSupportedYet, StatementError, nearest
from penstock.sql.grammar.parser import Parsed, parse_piece
from penstock.sql.grammar.splitting import Piece, pieces
from penstock.sql.running import connector_changes, connector_views
from penstock.sql.running.home import Home
from penstock.sql.running.results import Answer, Result, message
from penstock.sql.statements import asserts as aa
from penstock.sql.statements import connectors as co
from penstock.sql.statements import queries as qu
from penstock.sql.statements import settings as se
from penstock.sql.statements import sources as so
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.statement import Statement

if TYPE_CHECKING:
    from penstock.sql.running.asserting import Asserter

IN_SCRIPTS = (
    se.SetProperty,
    se.UnsetProperty,
    se.Define,
    se.Undefine,
    se.RunScript,
    so.CreateSource,
    so.DropSource,
    so.AddColumns,
    so.CreateType,
    so.DropType,
    qu.CreateAs,
    qu.InsertSelect,
    qu.InsertValues,
    *co.ConnectorStatement.__args__,
)
DEEPEST = 10


@dataclass(frozen=True)
class Ran:
    """A statement as it may be shown, and its answer."""

    statement: str
    answer: Answer


class SqlSession:
    """Runs scripts. Use from one thread at a time; ``home`` is the caller's to close."""

    def __init__(
        self,
        home: Home,
        variables: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        *,
        scripts: bool = True,
    ) -> None:
        """``scripts``: whether RUN SCRIPT may read files of this machine."""
        self.home = home
        self.variables = dict(variables or {})
        self.properties = dict(properties or {})
        self._scripts = scripts
        self._depth = 0

    def run(self, script: str) -> Iterator[Ran]:
        """Parse and run the statements one by one.

        An error ends the script: what came before it has been done. SqlError if the statement is
        refused; any PenstockError of Kafka Connect or the brokers.
        """
        for piece in pieces(script):
            yield from self.answers(self.parsed(piece))

    def parsed(self, piece: Piece) -> Parsed:
        """A statement, with the variables that there are now."""
        return parse_piece(piece, self.variables)

    def answers(self, parsed: Parsed) -> Iterator[Ran]:
        """Run one statement; a script has an answer per statement."""
        if isinstance(parsed.statement, se.RunScript):
            yield from self._script(parsed.statement)
        else:
            yield Ran(parsed.masked, self._answer(parsed.statement, parsed.masked))

    def _script(self, statement: se.RunScript) -> Iterator[Ran]:
        if not self._scripts or self._depth >= DEEPEST:
            why = "the prompt can run scripts" if not self._scripts else "it runs itself"
            raise StatementError(f"RUN SCRIPT '{statement.file}': {why}.")
        try:
            script = Path(statement.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StatementError(f"Cannot read the script {statement.file}: {error}") from None
        self._depth += 1
        try:
            for piece in pieces(script):
                parsed = self.parsed(piece)
                if not isinstance(parsed.statement, IN_SCRIPTS):
                    raise StatementError(f"A script cannot have this statement: {parsed.masked}")
                yield from self.answers(parsed)
        finally:
            self._depth -= 1

    def _answer(self, statement: Statement, masked: str) -> Answer:
        handlers: Mapping[type, Callable[[Any], Answer]] = {
            **self._of_connectors(),
            **self._of_sources(masked),
            **self._of_queries(masked),
            **self._of_tests(),
            se.SetProperty: self._set,
            se.UnsetProperty: self._unset,
            se.Define: self._define,
            se.Undefine: self._undefine,
        }
        return handlers[type(statement)](statement)

    # Connectors.

    def _of_connectors(self) -> dict[type, Callable[[Any], Answer]]:
        home = self.home
        return {
            co.CreateConnector: lambda s: connector_changes.create(
                home.connect, s, self._sink_keys
            ),
            co.ShowConnectors: lambda s: connector_views.show(home.connect, s),
            co.DescribeConnector: self._describe_connector,
            co.DropConnector: lambda s: connector_changes.drop(home.connect, s),
            co.AlterConnector: lambda s: connector_changes.alter(home.connect, s),
            co.ChangeConnector: lambda s: connector_changes.change(home.connect, s),
            co.ShowPlugins: lambda _: connector_views.plugins(home.connect),
            co.ShowOffsets: lambda s: connector_views.offsets(home.connect, s),
            co.AlterOffsets: lambda s: connector_changes.alter_offsets(home.connect, s),
            co.ResetOffsets: lambda s: connector_changes.reset_offsets(home.connect, s),
        }

    def _sink_keys(self, name: str) -> Mapping[str, str]:
        from penstock.sql.running.sinks import sink_keys

        return sink_keys(self.home.catalog.source(name), self.home.registry)

    def _describe_connector(self, statement: co.DescribeConnector) -> Result:
        from penstock.sql.running.listing import sources_over

        return connector_views.describe(
            self.home.connect, statement.name, lambda topics: sources_over(self.home, topics)
        )

    # Streams and tables.

    def _of_sources(self, masked: str) -> dict[type, Callable[[Any], Answer]]:
        from penstock.sql.running import sources

        home = self.home
        return {
            so.CreateSource: lambda s: self._create_source(s, masked),
            so.DropSource: lambda s: sources.drop(home, s),
            so.AddColumns: lambda s: sources.add_columns(home, s),
            so.CreateType: lambda s: sources.create_type(home, s),
            so.DropType: lambda s: sources.drop_type(home, s),
            so.Show: self._show,
            so.Describe: self._describe,
            so.DescribeAll: self._describe_all,
        }

    def _create_source(self, statement: so.CreateSource, masked: str) -> Result:
        from penstock.sql.running import from_connector, sources

        if statement.connector is not None:
            return from_connector.create(self.home, statement)
        return sources.create(self.home, statement, masked)

    def _show(self, statement: so.Show) -> Result:
        from penstock.sql.running import listing

        if statement.extended:
            raise NotSupportedYet(f"SHOW {statement.what} EXTENDED")
        shows: dict[str, Callable[[], Result]] = {
            "STREAMS": lambda: listing.sources(self.home, SourceKind.STREAM),
            "TABLES": lambda: listing.sources(self.home, SourceKind.TABLE),
            "TOPICS": lambda: listing.shown_topics(self.home, every=statement.every),
            "QUERIES": self._queries,
            "FUNCTIONS": listing.functions,
            "TYPES": self._types,
            "PROPERTIES": lambda: listing.pairs(
                "properties", ("Property", "Value"), self.properties
            ),
            "VARIABLES": lambda: listing.pairs("variables", ("Variable", "Value"), self.variables),
        }
        return shows[statement.what]()

    def _queries(self) -> Result:
        from penstock.sql.running import query_changes

        return query_changes.show(self.home)

    def _types(self) -> Result:
        from penstock.sql.running import listing

        return listing.types(self.home.catalog.types())

    def _describe(self, statement: so.Describe) -> Result:
        """A stream or table of that name, else a connector."""
        from penstock.sql.running import listing

        catalog = self.home.known_catalog()
        source = catalog.find(statement.name) if catalog else None
        if catalog is not None and source is not None:
            queries = list(catalog.queries().values())
            return listing.described(source, queries, extended=statement.extended)
        name = find_connector(self.home.connect, statement.name)
        if name is None:
            known = [*self.home.connect.connectors(), *self._source_names()]
            hint = nearest(statement.name, known)
            raise StatementError(f"There is no stream, table or connector {statement.name}.{hint}")
        return connector_views.describe_external(
            self.home.connect, name, lambda topic: listing.schema_words(self.home, topic)
        )

    def _source_names(self) -> list[str]:
        catalog = self.home.known_catalog()
        return list(catalog.sources()) if catalog else []

    def _describe_all(self, statement: so.DescribeAll) -> Result:
        from penstock.sql.running import listing

        found = self.home.catalog.sources(SourceKind(statement.what.removesuffix("S"))).values()
        using = list(self.home.catalog.queries().values())
        every = [listing.described(each, using, extended=statement.extended) for each in found]
        told = [each.entity["sourceDescription"] for each in every]
        entity = {"@type": "source_descriptions", "sourceDescriptions": told}
        return Result(entity, tuple(part for each in every for part in each.parts))

    # Queries.

    def _of_queries(self, masked: str) -> dict[type, Callable[[Any], Answer]]:
        return {
            qu.Select: self._select,
            qu.Explain: self._explain,
            qu.InsertValues: self._insert,
            qu.PrintTopic: self._print,
            qu.CreateAs: lambda s: self._persistent(s, masked),
            qu.InsertSelect: lambda s: self._persistent(s, masked),
            qu.ChangeQuery: self._change_query,
        }

    def _select(self, statement: qu.Select) -> Answer:
        from penstock.sql.running import queries

        return queries.select(self.home, statement.query, self.properties)

    def _explain(self, statement: qu.Explain) -> Answer:
        from penstock.sql.running import queries

        return queries.explain(self.home, statement)

    def _insert(self, statement: qu.InsertValues) -> Answer:
        from penstock.sql.running.inserting import insert

        return insert(self.home, statement)

    def _print(self, statement: qu.PrintTopic) -> Answer:
        from penstock.sql.running.printing_topics import print_topic

        return print_topic(self.home, statement)

    def _persistent(self, statement: qu.CreateAs | qu.InsertSelect, text: str) -> Answer:
        from penstock.sql.running import persistent

        said = persistent.Said(text, self.variables, self.properties)
        if isinstance(statement, qu.CreateAs):
            return persistent.create_as(self.home, statement, said)
        return persistent.insert_select(self.home, statement, said)

    def _change_query(self, statement: qu.ChangeQuery) -> Answer:
        from penstock.sql.running import query_changes

        return query_changes.change(self.home, statement)

    # Tests.

    def _of_tests(self) -> dict[type, Callable[[Any], Answer]]:
        return {
            aa.AssertValues: self._assert_values,
            aa.AssertSource: self._assert_source,
        }

    def _assert_values(self, statement: aa.AssertValues) -> Result:
        return self._asserter.values(statement)

    def _assert_source(self, statement: aa.AssertSource) -> Result:
        return self._asserter.source(statement)

    @cached_property
    def _asserter(self) -> Asserter:
        from penstock.sql.running.asserting import Asserter

        return Asserter(self.home)

    # The session itself.

    def _set(self, statement: se.SetProperty) -> Result:
        before = self.properties.get(statement.key)
        self.properties[statement.key] = statement.value
        changed = f" (was {before})" if before is not None else ""
        return message(f"Successfully changed local property '{statement.key}'{changed}.")

    def _unset(self, statement: se.UnsetProperty) -> Result:
        if self.properties.pop(statement.key, None) is None:
            raise StatementError(f"Property {statement.key} is not set.")
        return message(f"Successfully unset local property '{statement.key}'.")

    def _define(self, statement: se.Define) -> Result:
        self._forget(statement.name)
        self.variables[statement.name] = statement.value
        return message(f"Defined variable {statement.name}.")

    def _undefine(self, statement: se.Undefine) -> Result:
        if not self._forget(statement.name):
            hint = nearest(statement.name, self.variables)
            raise StatementError(f"There is no variable {statement.name}.{hint}")
        return message(f"Undefined variable {statement.name}.")

    def _forget(self, name: str) -> bool:
        same = [each for each in self.variables if each.lower() == name.lower()]
        return all(self.variables.pop(each, None) is not None for each in same) and bool(same)
