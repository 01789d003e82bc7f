"""Requests to a cluster whose members may come and go meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from penstock.client import ConnectApiError
from waiting import eventually

NOT_FOUND, CONFLICT = 404, 409


def insist(request: Callable[[], object]) -> None:
    """Make a request again for as long as it is refused because of a rebalance.

    One that was refused may have been carried out all the same, where only its answer was lost: a
    create then finds what it wants to create, and a delete nothing to delete.
    """
    refused = False

    def accepted() -> bool:
        nonlocal refused
        try:
            request()
        except ConnectApiError as error:
            if _rebalancing(error):
                refused = True
                return False
            if not (refused and _done(error)):
                raise
        return True

    eventually(accepted, what="a request that is taken", every=0.2)


def _rebalancing(error: ConnectApiError) -> bool:
    return error.status == CONFLICT and "rebalance" in error.message


def _done(error: ConnectApiError) -> bool:
    return error.status == NOT_FOUND or "already exists" in error.message
