"""GROUP BY in a persistent query: what is grouped, what is kept of each group, and what comes out.

The texts of a query with aggregates are over two kinds of rows. Before rows are grouped they are
those of any query, over ``LEFT`` and ``RIGHT``. After that there are three structs: ``GROUP`` with
the expressions of GROUP BY, ``FOLDED`` with the aggregates, and ``WINDOW`` with its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.sql.catalog.source import WINDOW_BOUNDS, Source
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.planning.expressions import Expressions, children, is_aggregate, with_parts
from penstock.sql.planning.folds import FOLDS, OF_ITS_ARGUMENT, Folding, folding
from penstock.sql.planning.session_folds import SESSION_FOLDS
from penstock.sql.planning.table_folds import TABLE_FOLDS, refuse_what_stays
from penstock.sql.planning.troubles import Troubles, either
from penstock.sql.planning.windows import GroupWindow, SessionWindow, group_window
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.queries import Item, Query

GROUP, FOLDED, WINDOW = "penstock_group", "penstock_folded", "penstock_window"
KEPT_ROW = "penstock_kept_row"
"""Over a table: the arguments of the aggregates, of a row that is added or gone."""
BEFORE = "penstock_before"
"""As ``FOLDED``, of the time before the turn."""


@dataclass(frozen=True)
class Aggregation:
    """What becomes of the rows that pass."""

    groups: tuple[str, ...]
    """The expressions of GROUP BY."""
    group_trouble: str
    """When one of them, or an argument of an aggregate, cannot be computed."""
    foldings: tuple[Folding, ...]
    having: str = ""
    having_before: str = ""
    """The same of the time before the turn."""
    window: GroupWindow | None = None
    of_table: bool = False
    arguments: tuple[str, ...] = ()
    """Over a table: what of a row the aggregates are of, which is kept to be taken back."""
    final: bool = False
    """Whether a window's row comes out once, when no row can be its any more."""

    @property
    def has_panes(self) -> bool:
        """Whether it is computed as ``pane_text`` says."""
        return self.final or isinstance(self.window, SessionWindow)


@dataclass(frozen=True)
class Aggregated:
    """An aggregation, and the items of the projection over what it gives."""

    aggregation: Aggregation
    items: list[Item]
    keys: list[int]
    """Which items are the key, in the order of GROUP BY."""


class Aggregating:
    """Plans one query. ``resolve`` puts columns in LEFT and RIGHT, as those of any query."""

    def __init__(
        self,
        query: Query,
        resolve: Callable[[Any], Any],
        texts: dict[str, bool],
        writer: Expressions,
        sink: str,
        *,
        of_table: bool = False,
    ) -> None:
        self._query = query
        self._of_table = of_table
        self._texts = texts
        self._writer = writer
        self._troubles = Troubles(writer.write)
        self._sink = sink
        self._window = group_window(query.window) if query.window else None
        self._resolve = resolve
        self._groups: list[ex.Expression] = [resolve(each) for each in query.group_by]
        self._calls: list[ex.Call] = []
        for number, each in enumerate(self._groups):
            texts[f"{GROUP}.g{number}"] = writer.is_text(each)

    def plan(self, items: list[Item]) -> Aggregated:
        """StatementError where something is neither grouped nor aggregated."""
        rewritten = [replace(item, expression=self._over_groups(item.expression)) for item in items]
        keys = [self._place(items, group) for group in self._groups]
        having = self._query.having
        condition = self._over_groups(self._resolve(having)) if having is not None else None
        write = self._writer.write
        aggregation = Aggregation(
            tuple(map(write, self._groups)),
            either(*map(self._troubles.of, [*self._groups, *self._arguments()])),
            tuple(map(self._folding, self._calls)),
            write(condition) if condition is not None else "",
            write(_before(condition)) if condition is not None else "",
            self._window,
            self._of_table,
            tuple(map(self._kept_of_row, self._arguments())) if self._of_table else (),
            self._query.emit == "FINAL",
        )
        return Aggregated(aggregation, rewritten, keys)

    def _folding(self, call: ex.Call) -> Folding:
        if self._of_table:
            refuse_what_stays(call.name, distinct=call.distinct)
            before = self._calls[: self._calls.index(call)]
            first = sum(len(each.arguments) for each in before)
            kept = [f"{KEPT_ROW}.x{first + n}" for n in range(len(call.arguments))]
            return folding(call, kept, TABLE_FOLDS)
        folds = SESSION_FOLDS if isinstance(self._window, SessionWindow) else FOLDS
        return folding(call, [self._writer.write(each) for each in call.arguments], folds)

    def _kept_of_row(self, argument: ex.Expression) -> str:
        return "1" if isinstance(argument, ex.Star) else self._writer.write(argument)

    def _arguments(self) -> list[ex.Expression]:
        return [each for call in self._calls for each in call.arguments]

    def _place(self, items: list[Item], group: ex.Expression) -> int:
        places = [number for number, item in enumerate(items) if item.expression == group]
        if len(places) == 1:
            return places[0]
        name = group.name if isinstance(group, ex.Column) else "an expression"
        if places:
            raise StatementError(
                f"The projection has {name} of GROUP BY more than once: it is the key, which has "
                "each column once. Use AS_VALUE(…) for a copy."
            )
        raise StatementError(
            "Key missing from projection (ie, SELECT).\n"
            f"The query used to build `{self._sink}` must include {name} of GROUP BY in its "
            "projection."
        )

    # From rows to groups.

    def _over_groups(self, each: Any) -> Any:
        """An expression of rows as one of groups."""
        if each in self._groups:
            return ex.Column(f"g{self._groups.index(each)}", GROUP)
        if isinstance(each, ex.Call) and is_aggregate(ex.Call(each.name, ())):
            return self._folded(each)
        if isinstance(each, ex.Column):
            return self._bound(each)
        return with_parts(each, self._over_groups)

    def _bound(self, column: ex.Column) -> ex.Column:
        if column.relation == WINDOW:
            if self._window is None:
                raise StatementError(f"{column.name} is there in queries with a WINDOW only.")
            return column
        raise StatementError(
            f"Column {column.name} is neither in GROUP BY nor within an aggregate function: "
            "add it to the GROUP BY, or remove it."
        )

    def _folded(self, call: ex.Call) -> ex.Column:
        if any(map(is_aggregate, children(call))):
            raise StatementError(f"Aggregate functions can not be nested: {call.name}.")
        if call not in self._calls:
            self._calls.append(call)
        name = f"a{self._calls.index(call)}"
        of_text = call.name in OF_ITS_ARGUMENT and self._writer.is_text(call.arguments[0])
        self._texts[f"{FOLDED}.{name}"] = of_text
        return ex.Column(name, FOLDED)


def _before(each: Any) -> Any:
    """The same of the time before the turn."""
    if isinstance(each, ex.Column) and each.relation == FOLDED:
        return replace(each, relation=BEFORE)
    return with_parts(each, _before)


def refuse_unless_groupable(query: Query, source: Source) -> None:
    """SqlError where aggregates, GROUP BY, HAVING and WINDOW do not fit together."""
    aggregates = [item for item in query.items if is_aggregate(item.expression)]
    if query.emit == "FINAL" and query.window is None:
        raise StatementError(
            "EMIT FINAL is only supported for aggregates with a WINDOW, whose end it waits for. "
            "Use EMIT CHANGES."
        )
    if not query.group_by:
        for what, present in (("WINDOW", query.window), ("HAVING", query.having)):
            if present is not None:
                raise StatementError(f"{what} requires a GROUP BY clause.")
        if aggregates:
            raise StatementError("Use of aggregate functions requires a GROUP BY clause.")
        return
    if not aggregates:
        raise StatementError("GROUP BY requires an aggregate function in SELECT.")
    if source.kind is SourceKind.TABLE:
        _refuse_of_table(query)
    if query.partition_by:
        raise StatementError("PARTITION BY does not go with GROUP BY, which sets the key.")


def _refuse_of_table(query: Query) -> None:
    if query.window is not None:
        raise StatementError(
            "WINDOW is for aggregates over streams: a table has the last row of each key, "
            "whatever its time."
        )
    if query.joins:
        raise NotSupportedYet("aggregates over a join of tables in a persistent query")


def is_bound(column: ex.Column) -> bool:
    """Whether it is one of a window's."""
    return not column.relation and column.name in WINDOW_BOUNDS
