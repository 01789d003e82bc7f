"""Answers of servers as errors that say what to do."""

from __future__ import annotations

import ssl
from typing import Any, Final

import httpx

from penstock.plugins.search.sink_config import PASSWORD, TRUSTED, URL, USERNAME
from penstock.plugins.search.sink_settings import Server
from penstock.sdk.errors import PenstockError, RetriableError, UserError

PASSING: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed later."""
BLOCKED: Final = "cluster_block_exception"
"""An index or cluster that takes no writes for now, because a disk is full for example."""
_MOST_CHARACTERS: Final = 1000


def unreachable(server: Server, url: str, error: httpx.TransportError) -> PenstockError:
    """A server that does not answer is waited for; a certificate that is not trusted is not."""
    why = _one_line(server, str(error) or type(error).__name__)
    if _untrusted(error):
        text = f"The certificate of {url} is not trusted: {why}. "
        return UserError(f"{text}Name the authority's file in '{TRUSTED}'.")
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return UserError(f"{url} cannot be requested: {why}. Check '{URL}'.")
    return RetriableError(f"{url} does not answer: {why}")


def _untrusted(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def refused(server: Server, url: str, doing: str, answer: httpx.Response) -> PenstockError:
    """What to raise for an answer that is an error; ``doing`` completes "while"."""
    kind, reason = _error_of(answer)
    why = _one_line(server, reason)
    if answer.status_code == httpx.codes.UNAUTHORIZED:
        return UserError(
            f"{url} refused the credentials while {doing} (status 401). Check '{USERNAME}' and "
            f"'{PASSWORD}'."
        )
    text = f"{url} answered with status {answer.status_code} while {doing}: {why}"
    if answer.status_code in PASSING or kind == BLOCKED:
        return RetriableError(text)
    if answer.status_code == httpx.codes.FORBIDDEN:
        return UserError(f"{text}. Give the user of '{USERNAME}' the rights for it.")
    return UserError(text)


def reason_of(error: Any) -> str:
    """The words of an error in an answer's body, with those of its cause."""
    if not isinstance(error, dict):
        return str(error)
    said = str(error.get("reason") or error.get("type") or error)
    cause = error.get("caused_by")
    return f"{said}: {reason_of(cause)}" if isinstance(cause, dict) else said


def shown(server: Server, error: Any) -> str:
    """An operation's error, on one line."""
    return _one_line(server, reason_of(error))


def _error_of(answer: httpx.Response) -> tuple[str, str]:
    """The type and words of an answer's error."""
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        return "", answer.reason_phrase or "no reason given"
    return str(error.get("type", "")) if isinstance(error, dict) else "", reason_of(error)


def _one_line(server: Server, text: str) -> str:
    return server.hidden(" ".join(text.split())).removesuffix(".")[:_MOST_CHARACTERS]
