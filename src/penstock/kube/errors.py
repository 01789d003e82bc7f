"""What a call to the Kubernetes API can end in, other than its answer."""

# ruff: noqa: N818 - a name that says what is the case needs no Error at its end

from __future__ import annotations

from penstock.sdk.errors import PenstockError

OF_STATUS = {
    401: "Log in again: `kubectl get ns` uses the same kubeconfig.",
    403: "Have a cluster admin grant it; `kubectl auth can-i --list` shows what you may do.",
    409: "It was changed at the same time: try again.",
    422: "Correct what the message names.",
}
LOOK_AT_SERVER = "Try again; if it stays, look at the API server: `kubectl get --raw /readyz`."


class KubeError(PenstockError):
    """Refused: ``status`` is HTTP's, ``reason`` Kubernetes', the text the server's message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.next_step = OF_STATUS.get(status, LOOK_AT_SERVER if status >= 500 else "")


class KubeUnavailable(PenstockError):
    """No API server is known, or none answers; the text says which and what to do."""
