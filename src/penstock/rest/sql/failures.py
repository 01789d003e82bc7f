"""Failures as ksqlDB tells them: ``error_code`` is the HTTP status times 100, and a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.runtime.errors import RequestError
from penstock.sdk.errors import PenstockError

Json = dict[str, Any]
BAD_REQUEST, BAD_STATEMENT, WRONG_ENDPOINT, NOT_ACCEPTABLE = 40000, 40001, 40002, 40600
FORBIDDEN, TOO_MANY, DEFECT, NOT_INSTALLED, BEHIND = 40300, 42900, 50000, 50100, 50301
NEEDS_EXTRA = 'This worker has no SQL: pip install "penstock[sql,worker]" where it runs.'


class Failure(PenstockError):  # noqa: N818 (what is answered, whatever the error was)
    """What a request is answered with instead; ``done`` is what was done before."""

    def __init__(
        self, code: int, message: str, statement: str | None = None, done: Sequence[Json] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.statement = statement
        self.done = list(done)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.code // 100

    def body(self) -> Json:
        """The answer."""
        told = {"error_code": self.code, "message": str(self)}
        if self.statement is None:
            return {"@type": "generic_error", **told}
        text = {"statementText": self.statement, "entities": self.done}
        return {"@type": "statement_error", **told, **text}


def failure_of(
    error: Exception, statement: str | None = None, done: Sequence[Json] = ()
) -> Failure:
    """The failure by which an error is reported."""
    if isinstance(error, Failure):
        return Failure(error.code, str(error), error.statement or statement, done)
    return Failure(_code(error), _words(error), statement, done)


def _code(error: Exception) -> int:
    if isinstance(error, ModuleNotFoundError):
        return NOT_INSTALLED
    if isinstance(error, RequestError):
        return error.status * 100
    code = getattr(error, "code", DEFECT)
    return code if isinstance(code, int) else DEFECT


def _words(error: Exception) -> str:
    return NEEDS_EXTRA if isinstance(error, ModuleNotFoundError) else str(error)
