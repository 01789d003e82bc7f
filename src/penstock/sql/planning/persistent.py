"""What a persistent query does with each row: computed from its statement alone.

The plan has texts for Spark over two structs, ``LEFT`` and ``RIGHT``: the columns of the stream (or
table) that is read, and those of the table that it is joined with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.sql.catalog.source import PSEUDO, WINDOW_BOUNDS, Source
from penstock.sql.errors import NotSupportedYet, StatementError, nearest
from penstock.sql.planning.aggregates import (
    WINDOW,
    Aggregated,
    Aggregating,
    Aggregation,
    is_bound,
    refuse_unless_groupable,
)
from penstock.sql.planning.expressions import Expressions, texts_of, with_parts
from penstock.sql.planning.joins import (
    LEFT,
    RIGHT,
    ROW_KEY,
    Joined,
    Joining,
    Pairing,
    TableJoin,
    refuse_kinds,
)
from penstock.sql.planning.queries import FindSource
from penstock.sql.planning.troubles import Troubles
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.queries import Item, Join, Query, Relation


@dataclass(frozen=True)
class Output:
    """A column that comes out; ``trouble`` is when it cannot be computed, empty for never."""

    name: str
    text: str
    trouble: str = ""
    is_key: bool = False


@dataclass(frozen=True)
class PersistentPlan:
    """All that is to be known of a query but its types, which Spark tells."""

    source: Source
    outputs: tuple[Output, ...]
    where: str = ""
    where_trouble: str = ""
    join: TableJoin | None = None
    pairing: Pairing | None = None
    same_key: bool = False
    """Whether the key of what comes out is that of what goes in, byte for byte."""
    used: frozenset[tuple[str, str]] = frozenset()
    """The columns of LEFT and RIGHT that are in use: pairs of struct and column."""
    aggregation: Aggregation | None = None
    """With one, ``outputs`` are over the structs of groups (``aggregates``)."""

    @property
    def kind(self) -> SourceKind:
        """What comes out. Groups are rows that change, so they are a table."""
        return SourceKind.TABLE if self.aggregation else self.source.kind

    @property
    def keys(self) -> tuple[Output, ...]:
        """The columns of the key."""
        return tuple(each for each in self.outputs if each.is_key)

    @property
    def values(self) -> tuple[Output, ...]:
        """The columns of the value."""
        return tuple(each for each in self.outputs if not each.is_key)

    @property
    def right(self) -> Source | None:
        """What it is joined with."""
        if self.pairing is not None:
            return self.pairing.right
        return self.join.table if self.join is not None else None

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it reads."""
        return (self.source, self.right) if self.right else (self.source,)

    @property
    def has_state(self) -> bool:
        """Whether it keeps what it knows in a topic of its own."""
        return self.aggregation is not None or self.pairing is not None


def planned_persistent(query: Query, find: FindSource, sink: str) -> PersistentPlan:
    """The plan of a query that writes to ``sink``; SqlError where it cannot be one."""
    _refuse(query)
    return _Planner(query, find, sink).plan()


def _refuse(query: Query) -> None:
    told = {
        "DISTINCT": query.distinct,
        "ORDER BY": query.order_by,
        "LIMIT": query.limit is not None,
        "a query in FROM": isinstance(query.relation.source, Query),
        "more than one join": len(query.joins) > 1,
    }
    present = next((what for what, is_there in told.items() if is_there), None)
    if present:
        raise NotSupportedYet(f"{present} in a persistent query")


class _Planner:
    def __init__(self, query: Query, find: FindSource, sink: str) -> None:
        self._query = query
        self._sink = sink
        self._sources = {LEFT: find(str(query.relation.source))}
        refuse_unless_groupable(query, self._sources[LEFT])
        self._aliases = {LEFT: _alias(query.relation)}
        if query.joins:
            self._add_joined(query.joins[0], find)
        for source in self._sources.values():
            if source.window:
                raise NotSupportedYet(f"the windowed table {source.name} in a persistent query")
        self._used: set[tuple[str, str]] = set()
        self._texts = {
            name: is_text
            for side, source in self._sources.items()
            for column in source.columns
            for name, is_text in texts_of(f"{side}.{column.name}", column.type).items()
        }
        self._writer = Expressions(self._texts, _no_query)
        self._write = self._writer.write
        self._troubles = Troubles(self._write)
        self._joined: Joined | None = None
        if query.joins:
            parts = (self._sources, self._aliases, self._resolved, self._write)
            self._joined = Joining(query.joins[0], *parts).plan()

    def _add_joined(self, join: Join, find: FindSource) -> None:
        if not isinstance(join.relation.source, str):
            raise NotSupportedYet("a join with a query in a persistent query")
        left, right = self._sources[LEFT], find(join.relation.source)
        alias = _alias(join.relation)
        if alias.upper() == self._aliases[LEFT].upper():
            raise StatementError(f"Both sides of the join are called {alias}: name one with AS.")
        self._sources[RIGHT], self._aliases[RIGHT] = right, alias
        refuse_kinds(left, right, join)
        if left.kind is SourceKind.TABLE and self._query.partition_by:
            raise StatementError(
                "PARTITION BY does not go with a join of tables: what comes out is a table, whose "
                "key is theirs."
            )
        if left.kind == right.kind and self._query.group_by:
            raise NotSupportedYet(
                f"aggregates over a join of two {left.kind.lower()}s: write the join into a "
                f"{left.kind.lower()} of its own, and group that"
            )

    def plan(self) -> PersistentPlan:
        items = [each for item in self._query.items for each in self._expanded(item)]
        where = self._query.where
        condition = self._resolved(where) if where is not None else None
        joined = self._joined
        aggregated = self._aggregated(items) if self._query.group_by else None
        if aggregated is not None:
            outputs, same_key = self._keyed(aggregated.items, aggregated.keys), False
        else:
            outputs, same_key = self._outputs(items)
        return PersistentPlan(
            self._sources[LEFT],
            outputs,
            self._write(condition) if condition is not None else "",
            self._troubles.of(condition) if condition is not None else "",
            joined.with_table if joined else None,
            joined.pairing if joined else None,
            same_key,
            frozenset(self._used),
            aggregated.aggregation if aggregated else None,
        )

    def _aggregated(self, items: list[Item]) -> Aggregated:
        of_table = self._sources[LEFT].kind is SourceKind.TABLE
        return Aggregating(
            self._query, self._resolved, self._texts, self._writer, self._sink, of_table=of_table
        ).plan(items)

    # Columns.

    def _expanded(self, item: Item) -> list[Item]:
        """What ``*`` stands for, and every other item under the name that it has."""
        if not isinstance(item.expression, ex.Star):
            resolved = self._resolved(item.expression)
            return [Item(resolved, item.alias or self._name(resolved, item))]
        chosen = [
            side for side, alias in self._aliases.items() if item.expression.relation in ("", alias)
        ]
        if not chosen:
            raise self._unknown_relation(item.expression.relation)
        found = [ex.Column(c.name, side) for side in chosen for c in self._sources[side].columns]
        row_key = self._row_key(ex.Column(ROW_KEY)) if not item.expression.relation else None
        first = [Item(row_key, ROW_KEY)] if row_key is not None else []
        return first + [Item(self._resolved(each), self._star_name(each)) for each in found]

    def _star_name(self, column: ex.Column) -> str:
        joined = len(self._sources) > 1
        return f"{self._aliases[column.relation]}_{column.name}" if joined else column.name

    def _name(self, resolved: ex.Expression, item: Item) -> str:
        if isinstance(resolved, ex.Column) and resolved.relation == WINDOW:
            return resolved.name
        if isinstance(resolved, ex.Column):
            both = len([s for s in self._sources.values() if resolved.name in _names(s)]) > 1
            prefixed = f"{self._aliases[resolved.relation]}_{resolved.name}"
            return prefixed if both else resolved.name
        if isinstance(resolved, ex.Field):
            return resolved.name
        if isinstance(item.expression, ex.Column):
            return item.expression.name
        return f"KSQL_COL_{self._query.items.index(item)}"

    def _resolved(self, each: Any) -> Any:
        """The same with every column in LEFT or RIGHT; notes that it is used."""
        if isinstance(each, ex.Subquery):
            raise NotSupportedYet("a query within a persistent query")
        if isinstance(each, ex.Column) and self._query.group_by and is_bound(each):
            return ex.Column(each.name, WINDOW)
        if isinstance(each, ex.Column) and (key := self._row_key(each)) is not None:
            return key
        if isinstance(each, ex.Column):
            column = each if each.relation in self._sources else self._column(each)
            self._used.add((column.relation, column.name))
            return column
        return with_parts(each, self._resolved)

    def _row_key(self, column: ex.Column) -> ex.Expression | None:
        """What ROWKEY is, where it is not a column of what is read."""
        named = (column.relation, column.name) == ("", ROW_KEY)
        if not named or self._joined is None:
            return None
        known = any(ROW_KEY in _names(source) for source in self._sources.values())
        return None if known else self._joined.row_key

    def _column(self, column: ex.Column) -> ex.Column:
        if column.relation and column.relation not in self._aliases.values():
            raise self._unknown_relation(column.relation)
        sides = [
            side
            for side, alias in self._aliases.items()
            if column.relation in ("", alias) and column.name in _names(self._sources[side])
        ]
        if not sides:
            known = [name for s in self._sources.values() for name in _names(s)]
            hint = nearest(column.name, known)
            raise StatementError(f"There is no column {column.name}.{hint}")
        if len(sides) > 1:
            could = " or ".join(f"{self._aliases[side]}.{column.name}" for side in sides)
            raise StatementError(f"Column '{column.name}' is ambiguous. Could be {could}.")
        return ex.Column(column.name, sides[0])

    def _unknown_relation(self, name: str) -> StatementError:
        hint = nearest(name, self._aliases.values())
        return StatementError(f"There is no {name} in FROM.{hint}")

    # What comes out.

    def _outputs(self, items: list[Item]) -> tuple[tuple[Output, ...], bool]:
        joined = self._joined
        keys = self._key_items(items, joined.viable if joined else None)
        by_join = joined is not None and not self._query.partition_by
        written = self._write(joined.written) if joined is not None and by_join else ""
        ordered = self._keyed(items, keys, written)
        if joined is not None and joined.pairing is not None:
            return ordered, False
        left_keys = [ex.Column(c.name, LEFT) for c in self._sources[LEFT].keys]
        return ordered, bool(keys) and [items[n].expression for n in keys] == left_keys

    def _keyed(self, items: list[Item], keys: list[int], joined: str = "") -> tuple[Output, ...]:
        """Keys first; ``joined`` is what is written as the key of a join."""
        made = [self._output(item, is_key=number in keys) for number, item in enumerate(items)]
        if joined:
            (number,) = keys
            made[number] = replace(made[number], text=joined, trouble="")
        ordered = [*(made[n] for n in keys), *(o for n, o in enumerate(made) if n not in keys)]
        _check_names(ordered)
        if len(ordered) == len(keys):
            raise StatementError("The projection contains no value columns.")
        return tuple(ordered)

    def _output(self, item: Item, *, is_key: bool) -> Output:
        expression = item.expression
        trouble = self._troubles.of(expression)
        return Output(item.alias, self._write(expression), trouble, is_key)

    def _key_items(self, items: list[Item], viable: tuple[ex.Expression, ...] | None) -> list[int]:
        """Which of the items are the key, in its order."""
        expressions = [item.expression for item in items]
        if self._query.partition_by:
            wanted = [self._resolved(each) for each in self._query.partition_by]
            if wanted == [ex.Literal(None)]:
                return []
            return [self._only(expressions, each, items) for each in wanted]
        if viable is not None:
            found = [n for n, each in enumerate(expressions) if each in viable]
            if not found:
                raise self._missing(viable[0])
            return found[:1]
        keys = [ex.Column(c.name, LEFT) for c in self._sources[LEFT].keys]
        return [self._only(expressions, each, items) for each in keys]

    def _only(self, found: list[ex.Expression], key: ex.Expression, items: list[Item]) -> int:
        places = [number for number, each in enumerate(found) if each == key]
        if not places:
            raise self._missing(key)
        if len(places) > 1:
            twice = " and ".join(f"`{items[n].alias}`" for n in places)
            raise StatementError(
                f"The projection contains a key column more than once: {twice}.\n"
                "Each key column must only be in the projection once."
            )
        return places[0]

    def _missing(self, key: ex.Expression) -> StatementError:
        named = isinstance(key, ex.Column)
        what = f"key column {key.name}" if isinstance(key, ex.Column) else "key expression"
        example = f" (eg, SELECT {key.name}...)" if isinstance(key, ex.Column) and named else ""
        return StatementError(
            "Key missing from projection (ie, SELECT).\n"
            f"The query used to build `{self._sink}` must include the {what} in its "
            f"projection{example}."
        )


def _check_names(outputs: list[Output]) -> None:
    names = [each.name.upper() for each in outputs]
    twice = next((each.name for each in outputs if names.count(each.name.upper()) > 1), None)
    if twice:
        raise StatementError(f"There are two columns {twice}: name one with AS.")
    reserved = (*PSEUDO, *WINDOW_BOUNDS)
    if hidden := next((each.name for each in outputs if each.name.upper() in reserved), None):
        raise StatementError(f"{hidden} is a column of every stream and table: name it with AS.")


def _alias(relation: Relation) -> str:
    return relation.alias or str(relation.source)


def _names(source: Source) -> list[str]:
    return [*(column.name for column in source.columns), *source.pseudo]


def _no_query(_: Query) -> str:
    raise NotSupportedYet("a query within a persistent query")
