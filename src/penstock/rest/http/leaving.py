"""A server that goes down answers what it has begun, if only that it could not finish."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.rest.http.errors import error_response
from penstock.runtime.cluster.peers import CONFLICTING
from penstock.runtime.errors import Conflict


class Leaving:
    """ASGI middleware: a request that the end of the server cuts off is to be asked again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if begun or scope["type"] != "http":
                raise
            await error_response(Conflict.status, CONFLICTING)(scope, receive, send)
