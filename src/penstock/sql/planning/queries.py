"""A query in Spark's SQL, over one view per stream or table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.sql.catalog.source import WINDOW_BOUNDS, Source
from penstock.sql.errors import NotSupportedYet, StatementError, nearest
from penstock.sql.planning.expressions import Expressions, children, is_aggregate, texts_of
from penstock.sql.planning.spark_types import quoted
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.queries import Item, Join, Query, Relation

FindSource = Callable[[str], Source]


@dataclass
class Plan:
    """The text for Spark, and the sources whose rows must be there as views of these names."""

    text: str = ""
    views: dict[str, Source] = field(default_factory=dict)
    columns: dict[str, frozenset[str]] = field(default_factory=dict)
    """Of each view those that the query is about."""
    ordered: bool = False
    """Whether there is an ORDER BY in it."""


def planned(query: Query, find: FindSource) -> Plan:
    """The plan of a query; StatementError where it names what is not there."""
    plan = Plan()
    plan.text = _Planner(plan, find).write(query)
    return plan


def refuse_unless_stateless(query: Query) -> None:
    """What a query of changes can be so far: a projection and a filter over one source."""
    told = {
        "joins": query.joins,
        "aggregates": query.group_by or any(is_aggregate(item.expression) for item in query.items),
        "DISTINCT": query.distinct,
        "ORDER BY": query.order_by,
        "PARTITION BY": query.partition_by,
        "a query in FROM": isinstance(query.relation.source, Query),
        "EMIT FINAL": query.emit == "FINAL",
    }
    present = next((what for what, is_there in told.items() if is_there), None)
    if present:
        raise NotSupportedYet(f"{present} with EMIT CHANGES; without it, the query runs once")


class _Planner:
    def __init__(self, plan: Plan, find: FindSource) -> None:
        self._plan = plan
        self._find = find

    def write(self, query: Query) -> str:
        self._refuse(query)
        self._plan.ordered |= bool(query.order_by)
        relations = [query.relation, *(join.relation for join in query.joins)]
        sources = {self._alias(each): self._source(each) for each in relations}
        self._check_columns(query, sources)
        writer = Expressions(self._texts(relations), self.write)
        items = ", ".join(self._items(query, sources, writer))
        used = None if any(map(_has_star, query.items)) else {c.name for c in _columns_of(query)}
        return " ".join(
            [
                f"SELECT {'DISTINCT ' if query.distinct else ''}{items}",
                f"FROM {self._relation(query.relation, used)}",
                *(self._join(join, writer, used) for join in query.joins),
                *_clauses(query, writer),
            ]
        )

    def _refuse(self, query: Query) -> None:
        if query.window is not None:
            raise NotSupportedYet(f"WINDOW {query.window.kind}")
        if query.partition_by:
            raise NotSupportedYet("PARTITION BY in a query that only reads")

    def _alias(self, relation: Relation) -> str:
        if relation.alias or isinstance(relation.source, str):
            return relation.alias or str(relation.source)
        return "SUBQUERY"

    def _source(self, relation: Relation) -> Source | None:
        return self._find(relation.source) if isinstance(relation.source, str) else None

    def _texts(self, relations: Sequence[Relation]) -> dict[str, bool]:
        """Which columns hold text: by their names, and by those with their relation's."""
        found: dict[str, bool] = {}
        for relation in relations:
            own = self._texts_within(relation)
            found |= own
            found |= {f"{self._alias(relation)}.{name}": text for name, text in own.items()}
        return found

    def _texts_within(self, relation: Relation) -> dict[str, bool]:
        if isinstance(relation.source, Query):
            return self._texts_out(relation.source)
        found: dict[str, bool] = {}
        for column in self._find(relation.source).columns:
            found |= texts_of(column.name, column.type)
        return found

    def _texts_out(self, query: Query) -> dict[str, bool]:
        """Of what a query gives."""
        relations = [query.relation, *(join.relation for join in query.joins)]
        writer = Expressions(self._texts(relations), self.write)
        found: dict[str, bool] = {}
        for number, item in enumerate(query.items):
            if not isinstance(item.expression, ex.Star):
                found |= writer.texts_within(item.expression, _name(item, number))
                continue
            for each in relations:
                before = f"{self._alias(each)}_" if query.joins else ""
                found |= {f"{before}{n}": text for n, text in self._texts_within(each).items()}
        return found

    def _relation(self, relation: Relation, used: set[str] | None) -> str:
        """``used`` are names of columns; None for all."""
        alias = quoted(self._alias(relation))
        source = self._source(relation)
        if source is None:
            assert isinstance(relation.source, Query)  # noqa: S101 (else it has a source)
            return f"({self.write(relation.source)}) AS {alias}"
        view = f"penstock_{len(self._plan.views)}"
        self._plan.views[view] = source
        names = {column.name for column in source.columns}
        self._plan.columns[view] = frozenset(names if used is None else names & used)
        return f"{view} AS {alias}"

    def _join(self, join: Join, writer: Expressions, used: set[str] | None) -> str:
        joined = self._relation(join.relation, used)
        return f"{join.kind} JOIN {joined} ON {writer.write(join.on)}"

    def _check_columns(self, query: Query, sources: Mapping[str, Source | None]) -> None:
        """Where all columns are known, one that is not is refused with the nearest."""
        known = {c.name for s in sources.values() if s for c in s.columns}
        known |= {name for s in sources.values() if s for name in s.pseudo}
        aliases = {item.alias for item in query.items}
        if None in sources.values():
            return
        for column in _columns_of(query):
            if column.relation and column.relation not in sources:
                hint = nearest(column.relation, sources)
                raise StatementError(f"There is no {column.relation} in FROM.{hint}")
            if column.name not in known | aliases:
                hint = nearest(column.name, known)
                raise StatementError(f"There is no column {column.name}.{hint}")

    def _items(
        self, query: Query, sources: Mapping[str, Source | None], writer: Expressions
    ) -> list[str]:
        found: list[str] = []
        for number, item in enumerate(query.items):
            if isinstance(item.expression, ex.Star):
                found += _every_column(item.expression.relation, sources)
            else:
                name = quoted(_name(item, number))
                found.append(f"{writer.write(item.expression)} AS {name}")
        return found


def _has_star(item: Item) -> bool:
    return isinstance(item.expression, ex.Star)


def _name(item: Item, number: int) -> str:
    if item.alias:
        return item.alias
    if isinstance(item.expression, ex.Column | ex.Field):
        return item.expression.name
    return f"KSQL_COL_{number}"


def _every_column(relation: str, sources: Mapping[str, Source | None]) -> list[str]:
    """What ``*`` stands for; over a join, columns have their relation's name before their own."""
    chosen = {alias: s for alias, s in sources.items() if not relation or alias == relation}
    if not chosen:
        raise StatementError(f"There is no {relation} in FROM.{nearest(relation, sources)}")
    joined = len(sources) > 1
    found: list[str] = []
    for alias, source in chosen.items():
        if source is None:
            found.append(f"{quoted(alias)}.*")
            continue
        for column in _shown(source):
            name = f"{alias}_{column}" if joined else column
            found.append(f"{quoted(alias)}.{quoted(column)} AS {quoted(name)}")
    return found


def _shown(source: Source) -> list[str]:
    """Its columns; the bounds of a window stand behind the key."""
    names = [column.name for column in source.columns]
    if not source.window:
        return names
    keys = [column.name for column in source.keys]
    return [*keys, *WINDOW_BOUNDS, *(name for name in names if name not in keys)]


def _columns_of(query: Query) -> list[ex.Column]:
    roots = [item.expression for item in query.items]
    roots += [join.on for join in query.joins]
    roots += [*query.group_by, *(each.expression for each in query.order_by)]
    roots += [each for each in (query.where, query.having) if each is not None]
    return [column for root in roots for column in _within(root)]


def _within(each: ex.Expression) -> list[ex.Column]:
    if isinstance(each, ex.Column):
        return [each]
    return [column for child in children(each) for column in _within(child)]


def _clauses(query: Query, writer: Expressions) -> list[str]:
    found = []
    if query.where is not None:
        found.append(f"WHERE {writer.write(query.where)}")
    if query.group_by:
        found.append("GROUP BY " + ", ".join(map(writer.write, query.group_by)))
    if query.having is not None:
        found.append(f"HAVING {writer.write(query.having)}")
    if query.order_by:
        ordered = (
            f"{writer.write(each.expression)}{' DESC' if each.descending else ''}"
            for each in query.order_by
        )
        found.append("ORDER BY " + ", ".join(ordered))
    if query.limit is not None:
        found.append(f"LIMIT {query.limit}")
    return found
