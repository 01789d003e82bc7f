"""What every request passes before it is routed.

Browsers: a web page must not be able to use the API behind its visitor's back, who may sit at the
right machine or have a browser that knows a password. A page can make its own host name point at
127.0.0.1, so names other than the ones given are refused; addresses cannot be rebound and are
fine. A request from another origin is refused as well, no CORS header is ever sent, and no answer
is to be taken for anything but what its media type says.

Paths: routes see them still percent-encoded, since a connector's name may hold a slash; a
trailing slash is dropped.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.rest.http.errors import error_response


class Guard:
    """ASGI middleware; see the module."""

    def __init__(self, app: ASGIApp, host_names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in host_names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _as_typed(send)
        refusal = self._refusal(Headers(scope=scope))
        if refusal:
            await error_response(403, refusal)(scope, receive, send)
        else:
            routed = {**scope, "path": _encoded_path(scope), "method": _method(scope)}
            await self._app(routed, receive, send)

    def _refusal(self, headers: Headers) -> str | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._trusted(host):
            return f"Host '{host}' is not a name of this worker; use its address or localhost"
        if origin is not None and _host_of(origin) != host.lower():
            return f"Requests from the origin '{origin}' are not allowed"
        return None

    def _trusted(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _as_typed(send: Send) -> Send:
    async def send_typed(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Content-Type-Options"] = "nosniff"
        await send(message)

    return send_typed


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _method(scope: Scope) -> str:
    """HEAD is answered as GET; the server leaves the body out."""
    return "GET" if scope["method"] == "HEAD" else str(scope["method"])


def _encoded_path(scope: Scope) -> str:
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1").rstrip("/") or "/"
