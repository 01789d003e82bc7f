"""What a statement can end in, other than its result.

SqlError
├── SyntaxProblem   the text is no statement: where, and what was probably meant
├── StatementError  the statement is refused: a name that is not there, a config that is wrong
└── NotSupportedYet valid SQL that cannot be run yet; it never gives a wrong result instead
"""

# ruff: noqa: N818 - a name that says what is the case needs no Error at its end

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from penstock.sdk.errors import PenstockError


class SqlError(PenstockError):
    """Base of the errors of this room; the text is for the user as it is."""

    code = 40001
    """ksqlDB's number for it: the HTTP status times 100, and a kind."""


class SyntaxProblem(SqlError):
    """``line`` and ``column`` count from 1, in the text that was given."""

    def __init__(self, message: str, line: int, column: int, shown: str = "") -> None:
        place = f"line {line}, column {column}: {message}"
        super().__init__(f"{place}\n{shown}" if shown else place)
        self.line = line
        self.column = column


class StatementError(SqlError):
    """The statement cannot be carried out; nothing was changed unless the text says so."""


class AlreadyExists(StatementError):
    """There is one of that name."""

    code = 40900


class NotSupportedYet(SqlError):
    """The statement is understood, but there is nothing yet that could run it."""

    def __init__(self, what: str) -> None:
        super().__init__(f"not supported yet: {what}")


def nearest(word: str, known: Iterable[str]) -> str:
    """`` Did you mean …?`` with the nearest of ``known``, whatever its case; empty if none is."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean {by_lower[close[0]]}?" if close else ""
