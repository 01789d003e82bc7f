"""Requests that another worker of the cluster has signed.

A signature that does not hold is refused at once, whatever was asked; a request without one goes
on as anybody's. Whom a signature names is in ``request.state.peer``, and its role in ``role``.
"""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.rest.errors import error_response
from penstock.rest.herder_api import HerderApi
from penstock.rest.requests import MAX_BODY_BYTES, target
from penstock.runtime.peers import NOT_A_PEER, PEER_ROLE
from penstock.runtime.session_keys import SENDER, SIGNATURE


class Peerage:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp, herder: HerderApi) -> None:
        self._app = app
        self._herder = herder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or SIGNATURE not in (headers := Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        body = await _whole(receive)
        asked = scope["method"], target(scope), body, headers
        role = await to_thread.run_sync(self._herder.verified, *asked)
        if role is None:
            await error_response(403, NOT_A_PEER)(scope, receive, send)
            return
        state = {**scope.get("state", {}), "peer": headers.get(SENDER, ""), "role": role}
        await self._app({**scope, "state": state}, _again(body), send)


async def _whole(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES or not message.get("more_body"):
            return bytes(body)


def _again(body: bytes) -> Receive:
    left = [body]

    async def receive() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return {"type": "http.disconnect"}

    return receive


async def _peer(request: Request) -> str:
    if getattr(request.state, "peer", None) is None or request.state.role != PEER_ROLE:
        raise HTTPException(403)
    return str(request.state.peer)


PEERS_ONLY = Depends(_peer)
Peer = Annotated[str, PEERS_ONLY]
"""The worker that asks; anybody else is refused."""
