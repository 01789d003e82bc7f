"""How far apart the rows of two streams may be to be joined."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.sql.planning.windows import GRACE, milliseconds
from penstock.sql.statements.queries import Within

LEFT_SIDE, RIGHT_SIDE = 0, 1


@dataclass(frozen=True)
class JoinWindow:
    """A row of the right side may be up to ``before`` earlier than one of the left side, and up to
    ``after`` later; all in milliseconds."""

    before: int
    after: int
    grace: int = GRACE

    def bounds(self, side: int, time: int) -> tuple[int, int]:
        """From when to when the other side's rows are that a row goes with."""
        if side == LEFT_SIDE:
            return time - self.before, time + self.after
        return time - self.after, time + self.before

    def closes(self, side: int, time: int) -> int:
        """The last time of the stream at which a row is joined with others."""
        return self.bounds(side, time)[1] + self.grace

    def over(self, side: int, now: int) -> int:
        """The time of the latest rows of a side that are joined no more."""
        return now - self.closes(side, 0) - 1


def join_window(within: Within) -> JoinWindow:
    """The window of a WITHIN clause; StatementError for a unit that there is not."""
    grace = milliseconds(within.grace) if within.grace else GRACE
    return JoinWindow(milliseconds(within.before), milliseconds(within.after), grace)
