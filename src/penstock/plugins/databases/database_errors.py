"""Errors of database drivers as errors that say what to do, with no secret in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote

from penstock.sdk.databases import Database
from penstock.sdk.errors import PenstockError, RetriableError, UserError

_PASSING: Final = ("08", "40", "53", "55", "57")
"""Classes of SQLSTATE that pass: connection, serialisation, resources, locks, shut-down."""
_WORDS_OF_PASSING: Final = (
    "could not connect",
    "connection refused",
    "connection to server",
    "server closed the connection",
    "terminating connection",
    "the database system is",
    "no connection to the server",
    "ssl syscall error",
    "timeout expired",
    "database is locked",
    "connection timed out",
    "connection reset",
    "broken pipe",
    "connection is closed",
    "the connection is lost",
)
_LOGIN: Final = ("28", "3D")
RETRY_SECONDS: Final = 2.0
_QUERY: Final = re.compile(r"(?<=query) '.*?'(?=: \w+: )| Query was: .*?(?=\. SQLSTATE: |$)")
"""What the driver repeats of a query, which may be longer than what it has to say."""


@contextmanager
def talking_to(database: Database, doing: str) -> Iterator[None]:
    """Turns a driver's error into ``RetriableError`` if it passes, and into ``UserError`` if not.

    ``doing`` completes "… failed while", for example ``reading table orders``.
    """
    try:
        yield
    except PenstockError:
        raise
    except Exception as error:
        if not is_drivers(error):
            raise
        raise translated(database, doing, error) from None


def is_drivers(error: BaseException) -> bool:
    """Whether a database driver raised it."""
    return type(error).__module__.partition(".")[0] in ("adbc_driver_manager", "psycopg")


def translated(database: Database, doing: str, error: BaseException) -> PenstockError:
    """What to raise instead of a driver's error."""
    text = f"The {database} reported an error while {doing}: {shown(database, error)}"
    if passes(error):
        return RetriableError(text, retry_after=RETRY_SECONDS)
    if state_of(error)[:2] in _LOGIN or "password" in str(error).lower():
        return UserError(
            f"{text}. Check 'connection.url', 'connection.user' and 'connection.password'."
        )
    return UserError(text)


def passes(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    state, words = state_of(error), str(error).lower()
    if state[:2] in _LOGIN or "authentication failed" in words:
        return False
    return state[:2] in _PASSING or any(text in words for text in _WORDS_OF_PASSING)


def state_of(error: BaseException) -> str:
    """The five letters by which SQL names the error, or ""."""
    return str(getattr(error, "sqlstate", "") or "").strip("\0")


def shown(database: Database, error: BaseException) -> str:
    """The error's own words on one line, without the query.

    And without the password, as it is and as URLs have it.
    """
    text = _QUERY.sub("", " ".join(str(error).split())) or type(error).__name__
    if database.password:
        for form in (database.password, quote(database.password, safe="")):
            text = text.replace(form, "[hidden]")
    return text.removesuffix(".")[:1000]
