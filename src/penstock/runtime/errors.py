"""What the herder answers when it cannot do what was asked.

RequestError          carries the HTTP status that Kafka Connect would answer
├── BadRequest    400
├── Forbidden     403
├── NotFound      404
├── Conflict      409
├── InternalError 500
└── Unavailable   503
"""

from __future__ import annotations

from typing import ClassVar

from penstock.sdk.errors import PenstockError

NO_LEADER = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance "
    "was underway."
)
"""What Kafka Connect answers to what only the leader can do while there is none."""


class RequestError(PenstockError):
    """A valid request that is rejected; the text is for the caller."""

    status: ClassVar[int] = 500


class BadRequest(RequestError):
    """The request itself is wrong."""

    status = 400


class Forbidden(RequestError):
    """This worker is configured not to do it."""

    status = 403


class NotFound(RequestError):
    """It names something that does not exist."""

    status = 404


class Conflict(RequestError):
    """It cannot be done in the current state; retrying later may help."""

    status = 409


class InternalError(RequestError):
    """It could not be carried out."""

    status = 500


class Unavailable(RequestError):
    """The worker is not ready for it yet."""

    status = 503
