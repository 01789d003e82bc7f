"""Why a connector has failed."""

from __future__ import annotations

from penstock.client import ConnectClient


def failure(client: ConnectClient, name: str) -> str:
    """The trace of whatever of a connector has FAILED; empty before."""
    status = client.status(name)
    parts = [status["connector"], *status["tasks"]]
    return next((part.get("trace", "") for part in parts if part["state"] == "FAILED"), "")
