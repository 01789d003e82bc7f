"""Requests that another worker of the cluster has signed."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Depends
from starlette.exceptions import HTTPException

from penstock.rest.access.auth import SignedRequest, VerifyPeer
from penstock.rest.access.caller import Caller, Role, current
from penstock.rest.herder_api import HerderApi
from penstock.runtime.cluster.peers import PEER_ROLE, sender

KNOWN = "known"


def peers_of(herder: HerderApi) -> VerifyPeer:
    """Knows the workers of the cluster that ``herder`` belongs to."""

    def caller_of(request: SignedRequest) -> Caller | None:
        signed_for = herder.verified(request.method, request.target, request.body, request.headers)
        if signed_for is None:
            return None
        worker = sender(request.headers)
        if signed_for == PEER_ROLE:
            return Caller(f"worker {worker}", Role.ADMIN, peer=worker, own_account=True)
        word, name, *more = signed_for.split(" ")
        subject, address, known = (unquote(text) for text in [*more, "", "", ""][:3])
        return Caller(name, Role.named(word), address, subject, known == KNOWN, worker)

    return caller_of


def signed_for(caller: Caller) -> str:
    """How a request that is passed on says for whom it is."""
    # Quoted, since a subject may hold what a header may not.
    more = (caller.certificate, caller.address, KNOWN if caller.known else "")
    return " ".join((caller.role.word, caller.name, *map(quote, more))).rstrip()


async def _peer() -> str:
    caller = current()
    if not caller.own_account:
        raise HTTPException(403)
    return caller.peer


PEERS_ONLY = Depends(_peer)
Peer = Annotated[str, PEERS_ONLY]
"""The worker that asks; any other caller is refused."""
