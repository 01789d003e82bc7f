"""What a call to the Kubernetes API can end in, other than its answer."""

# ruff: noqa: N818 - a name that says what is the case needs no Error at its end

from __future__ import annotations

from penstock.sdk.errors import PenstockError


class KubeError(PenstockError):
    """Refused: ``status`` is HTTP's, ``reason`` Kubernetes', the text the server's message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class KubeUnavailable(PenstockError):
    """No API server is known, or none answers; the text says which and what to do."""
