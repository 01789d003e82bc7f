"""Joins in persistent queries: what can be joined with what, by which key, under which name.

A stream is joined with a table row by row (``TableJoin``). Rows of two streams, or of two tables,
are paired (``Pairing``): either side can be the one that a pair has waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from penstock.sql.catalog.source import Source
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.planning.join_window import LEFT_SIDE, RIGHT_SIDE, JoinWindow, join_window
from penstock.sql.planning.troubles import Troubles
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.kinds import JoinKind, SourceKind
from penstock.sql.statements.queries import Join

LEFT, RIGHT = "penstock_left", "penstock_right"
OUTER = {
    JoinKind.INNER: frozenset[int](),
    JoinKind.LEFT: frozenset({LEFT_SIDE}),
    JoinKind.RIGHT: frozenset({RIGHT_SIDE}),
    JoinKind.FULL: frozenset({LEFT_SIDE, RIGHT_SIDE}),
}
NEEDED = {
    JoinKind.INNER: frozenset({LEFT_SIDE, RIGHT_SIDE}),
    JoinKind.LEFT: frozenset({LEFT_SIDE}),
    JoinKind.RIGHT: frozenset({RIGHT_SIDE}),
    JoinKind.FULL: frozenset[int](),
}
ROW_KEY = "ROWKEY"
"""The key of what comes out where no column of one side is in every row."""


@dataclass(frozen=True)
class TableJoin:
    """With the row of ``table`` whose key is ``key``, a text over LEFT."""

    table: Source
    kind: JoinKind
    key: str
    key_trouble: str
    by_key: bool
    """Whether it is the key of the stream, so that both sides are partitioned alike."""


@dataclass(frozen=True)
class Pairing:
    """Rows of two streams, or of two tables, with equal keys: texts over LEFT and over RIGHT."""

    right: Source
    kind: JoinKind
    keys: tuple[str, str]
    key_troubles: tuple[str, str]
    by_key: bool
    """As of ``TableJoin``."""
    window: JoinWindow | None = None
    """Of streams."""

    @property
    def outer(self) -> frozenset[int]:
        """The sides whose rows come out even if they are in no pair."""
        return OUTER[self.kind]

    @property
    def needed(self) -> frozenset[int]:
        """The sides without whose row nothing comes out; none if either will do."""
        return NEEDED[self.kind]


@dataclass(frozen=True)
class Joined:
    """A join, and the key of what comes out."""

    with_table: TableJoin | None
    pairing: Pairing | None
    viable: tuple[ex.Expression, ...]
    """What of the projection can be the key."""
    written: ex.Expression
    """What is written as the key, whichever of these is selected."""
    row_key: ex.Expression | None = None
    """What ``ROWKEY`` is, if there is one."""


class Joining:
    """Plans the join of one query. ``resolve`` puts columns in LEFT and RIGHT."""

    def __init__(
        self,
        join: Join,
        sources: Mapping[str, Source],
        aliases: Mapping[str, str],
        resolve: Callable[[Any], Any],
        write: Callable[[ex.Expression], str],
    ) -> None:
        self._join = join
        self._sources = sources
        self._aliases = aliases
        self._resolve = resolve
        self._write = write
        self._troubles = Troubles(write)

    def plan(self) -> Joined:
        """StatementError where the condition is none."""
        kinds = [self._sources[side].kind for side in (LEFT, RIGHT)]
        if kinds == [SourceKind.STREAM, SourceKind.TABLE]:
            return self._with_table()
        return self._paired()

    def _with_table(self) -> Joined:
        left, table = self._sources[LEFT], self._sources[RIGHT]
        sides = self._equality(table.keys[0].name)
        key = ex.Column(table.keys[0].name, RIGHT)
        if len(table.keys) > 1:
            raise NotSupportedYet("a join with a table whose primary key has several columns")
        if key not in sides:
            raise StatementError(
                "Invalid join condition: stream-table joins require to join on the table's "
                f"primary key. The primary key of {table.name} is {table.keys[0].name}."
            )
        mine = sides[1 - sides.index(key)]
        if sides_of(mine) != {LEFT}:
            raise StatementError(
                f"Invalid join condition: one side must be of {self._aliases[LEFT]} alone."
            )
        by_key = _key_columns(left, LEFT) == [mine]
        text, trouble = self._write(mine), self._troubles.of(mine)
        viable = (mine, key) if isinstance(mine, ex.Column) else (key,)
        return Joined(TableJoin(table, self._join.kind, text, trouble, by_key), None, viable, mine)

    def _paired(self) -> Joined:
        left, right = self._sources[LEFT], self._sources[RIGHT]
        sides = self._sides()
        alike = left.key_format == right.key_format
        by_key = alike and [[each] for each in sides] == [
            _key_columns(left, LEFT),
            _key_columns(right, RIGHT),
        ]
        if left.kind is SourceKind.TABLE:
            self._refuse_other_keys(sides)
        pairing = Pairing(
            right,
            self._join.kind,
            (self._write(sides[0]), self._write(sides[1])),
            (self._troubles.of(sides[0]), self._troubles.of(sides[1])),
            by_key,
            join_window(self._join.within) if self._join.within else None,
        )
        written = sides[RIGHT_SIDE if self._join.kind is JoinKind.RIGHT else LEFT_SIDE]
        if self._join.kind is JoinKind.FULL or left.kind is SourceKind.TABLE:
            # Of a row that is there no more, either side may be all that is left.
            written = ex.Call("COALESCE", sides)
        columns = _columns(sides)
        if self._join.kind is not JoinKind.FULL and columns:
            return Joined(None, pairing, columns, written)
        return Joined(None, pairing, (written,), written, row_key=written)

    def _refuse_other_keys(self, sides: tuple[ex.Expression, ex.Expression]) -> None:
        for side, each in zip((LEFT, RIGHT), sides, strict=True):
            source = self._sources[side]
            if len(source.keys) > 1:
                raise NotSupportedYet("a join with a table whose primary key has several columns")
            if [each] != _key_columns(source, side):
                raise NotSupportedYet(
                    "a join of tables on something else than their primary keys. The primary key "
                    f"of {source.name} is {source.keys[0].name}"
                )

    def _sides(self) -> tuple[ex.Expression, ex.Expression]:
        """What is compared, of the left and of the right side."""
        first, second = self._equality("…")
        if sides_of(first) == {RIGHT}:
            first, second = second, first
        if [sides_of(first), sides_of(second)] != [{LEFT}, {RIGHT}]:
            raise StatementError(
                f"Invalid join condition: one side must be of {self._aliases[LEFT]} alone, and the "
                f"other one of {self._aliases[RIGHT]}."
            )
        return first, second

    def _equality(self, key: str) -> list[ex.Expression]:
        on = self._join.on
        if not isinstance(on, ex.Binary) or on.operator != "=":
            raise StatementError(
                "Unsupported join expression: the condition must be one equality, "
                f"{self._aliases[LEFT]}.… = {self._aliases[RIGHT]}.{key}."
            )
        return [self._resolve(on.left), self._resolve(on.right)]


def refuse_kinds(left: Source, right: Source, join: Join) -> None:
    """SqlError where these cannot be joined so."""
    kinds = (left.kind, right.kind)
    if kinds == (SourceKind.TABLE, SourceKind.STREAM):
        raise StatementError(
            "Invalid join order: table-stream joins are not supported; only stream-table joins. "
            f"Got {left.name} JOIN {right.name}."
        )
    if kinds == (SourceKind.STREAM, SourceKind.TABLE):
        _refuse_with_table(right, join)
    else:
        _refuse_pairing(left, right, join)


def _refuse_with_table(table: Source, join: Join) -> None:
    if join.kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise StatementError(
            f"{join.kind} OUTER joins between streams and tables are not supported: "
            "a row of the table never makes a row by itself. Use INNER or LEFT."
        )
    _refuse_within(join, "Stream-Table")
    if table.timestamp or any(c.role == "HEADERS" for c in table.columns):
        raise NotSupportedYet("a join with a table that has TIMESTAMP in WITH, or headers")


def _refuse_pairing(left: Source, right: Source, join: Join) -> None:
    if left.kind is SourceKind.TABLE:
        _refuse_within(join, "Table-Table")
    elif join.within is None:
        raise StatementError(
            "Stream-Stream joins must have a WITHIN clause: how far apart the times of two rows "
            "may be, for example WITHIN 1 HOUR GRACE PERIOD 5 MINUTES."
        )
    if left.topic == right.topic:
        raise NotSupportedYet(f"a join of topic {left.topic} with itself")
    headed = [s for s in (left, right) if any(c.role == "HEADERS" for c in s.columns)]
    if headed and (left.kind is SourceKind.TABLE or headed != [left]):
        raise NotSupportedYet(f"a join with {headed[-1].name}, which has headers")


def _refuse_within(join: Join, kinds: str) -> None:
    if join.within is not None:
        raise StatementError(
            f"A window definition was provided for a {kinds} join. "
            "These joins are not windowed: remove the WITHIN clause."
        )


def _key_columns(source: Source, side: str) -> list[ex.Expression]:
    return [ex.Column(column.name, side) for column in source.keys]


def _columns(sides: tuple[ex.Expression, ...]) -> tuple[ex.Expression, ...]:
    return tuple(each for each in sides if isinstance(each, ex.Column))


def sides_of(each: Any) -> set[str]:
    """The relations of the columns within an expression."""
    if isinstance(each, ex.Column):
        return {each.relation}
    if isinstance(each, tuple):
        return {side for part in each for side in sides_of(part)}
    if isinstance(each, ex.Expression) and is_dataclass(each):
        return {side for f in fields(each) for side in sides_of(getattr(each, f.name))}
    return set()
