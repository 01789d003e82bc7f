"""Windows of time: which a row belongs to, and until when rows are taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.sql.errors import StatementError, nearest
from penstock.sql.statements.kinds import WindowKind
from penstock.sql.statements.queries import Window

MILLISECONDS = {
    "MILLISECOND": 1,
    "SECOND": 1000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 7 * 86_400_000,
}
GRACE = MILLISECONDS["DAY"]
"""How long after its end a window takes late rows, unless it is said: as in ksqlDB."""


@dataclass(frozen=True)
class TimeWindow:
    """Windows of ``size`` that begin every ``advance``; all in milliseconds."""

    kind: WindowKind
    size: int
    advance: int
    grace: int = GRACE
    retention: int = 0
    """How long a window's state is kept after its end, at least ``grace``."""

    def starts(self, time: str) -> str:
        """The beginnings of the windows of a row of that time, as an array."""
        first = f"greatest(0, {time} - {self.size - self.advance}) div {self.advance}"
        last = f"{time} div {self.advance}"
        return f"transform(sequence({first}, {last}), n -> CAST(n * {self.advance} AS BIGINT))"

    def is_open(self, start: str, seen: str, newest: str) -> str:
        """Whether the window takes a row, when rows up to ``seen`` were read of its partition, and
        up to ``newest`` of any when the turn began."""
        return (
            f"({start} + {self.size + self.grace} > {seen} AND "
            f"{start} + {self.size + self.kept} > {newest})"
        )

    @property
    def kept(self) -> int:
        """How long after its end the state of a window is kept."""
        return max(self.grace, self.retention - self.size)

    @property
    def lag(self) -> int:
        """How long after its end no row can be its any more, whatever the partition."""
        return self.kept


@dataclass(frozen=True)
class SessionWindow:
    """Windows that go on for as long as no more than ``gap`` is between two rows.

    They end with their last row.
    """

    gap: int
    grace: int = GRACE
    retention: int = 0
    kind: WindowKind = WindowKind.SESSION
    size: int = 0

    @property
    def kept(self) -> int:
        """How long after it could have gone on the state of a session is kept."""
        return max(self.grace, self.retention - self.gap)

    @property
    def lag(self) -> int:
        """As of ``TimeWindow``."""
        return self.gap + self.kept + 1


GroupWindow = TimeWindow | SessionWindow


def group_window(window: Window) -> GroupWindow:
    """The window that a query names; StatementError if its sizes make no sense."""
    given = {name: milliseconds(size) for name, size in window.sizes}
    return _session(given) if window.kind is WindowKind.SESSION else _time_window(window, given)


def _session(given: Mapping[str, int]) -> SessionWindow:
    gap = given.get("", 0)
    if unknown := next((n for n in given if n not in ("", "RETENTION", "GRACE PERIOD")), None):
        raise StatementError(f"WINDOW SESSION has no {unknown}.")
    if not gap:
        raise StatementError(
            "WINDOW SESSION needs how long nothing may come for it to end, for example (5 MINUTES)."
        )
    return SessionWindow(gap, given.get("GRACE PERIOD", GRACE), given.get("RETENTION", 0))


def _time_window(window: Window, given: Mapping[str, int]) -> TimeWindow:
    allowed = {"SIZE", "RETENTION", "GRACE PERIOD"}
    allowed |= {"ADVANCE BY"} if window.kind is WindowKind.HOPPING else set()
    if unknown := next((name for name in given if name not in allowed), None):
        raise StatementError(f"WINDOW {window.kind} has no {unknown or 'size without a name'}.")
    size = given.get("SIZE", 0)
    advance = given.get("ADVANCE BY", size if window.kind is WindowKind.TUMBLING else 0)
    if not size or not 0 < advance <= size:
        wanted = "SIZE" if window.kind is WindowKind.TUMBLING else "SIZE, and ADVANCE BY up to that"
        raise StatementError(f"WINDOW {window.kind} needs {wanted}, for example (SIZE 1 HOUR).")
    grace, retention = given.get("GRACE PERIOD", GRACE), given.get("RETENTION", 0)
    return TimeWindow(window.kind, size, advance, grace, retention)


def milliseconds(duration: str) -> int:
    """``1 HOUR``, ``30 SECONDS``."""
    count, _, unit = duration.partition(" ")
    name = unit.upper().removesuffix("S")
    if name not in MILLISECONDS:
        known = [f"{each}S" for each in MILLISECONDS]
        raise StatementError(f"{unit} is no unit of time.{nearest(unit.upper(), known)}")
    return int(count) * MILLISECONDS[name]
