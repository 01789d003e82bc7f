"""What a call to a worker can end in, other than its answer.

ConnectError
├── ConnectApiError     the worker answered with an error: `status` and its own message
├── WorkerUnreachable   no answer: start a worker, or say where it is
├── ConnectorFailed     a connector or a task of it is FAILED, which was not waited for
└── WaitTimeout         what was waited for did not happen in time
"""

# ruff: noqa: N818 - a name that says what is the case needs no Error at its end

from __future__ import annotations

from penstock.sdk.errors import PenstockError


class ConnectError(PenstockError):
    """Base of the errors of this room; the text is meant for the user as it is."""


class ConnectApiError(ConnectError):
    """The worker refused or failed: ``status`` is HTTP's, ``message`` the worker's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class WorkerUnreachable(ConnectError):
    """No answer from ``url``. Whether a change took effect is unknown."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"No answer from a worker at {url} ({why}). Is it running? Start one with "
            f"`penstock up`, or say where it is with --url or PENSTOCK_URL."
        )
        self.url = url


class ConnectorFailed(ConnectError):
    """A connector or a task of it has FAILED; the text holds its trace."""

    next_step = "Repair what it names, then `penstock restart connector NAME --only-failed`."


class WaitTimeout(ConnectError):
    """The time given to a wait is over; what was waited for may still come."""

    next_step = (
        "It may still finish: `penstock get connectors` shows it. --wait, or --timeout of "
        "`penstock wait`, says how long to wait."
    )
