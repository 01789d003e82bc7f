"""Who may do what: read looks, operate changes connectors, admin changes the worker.

Every request passes here. ``/health`` and ``/healthcheck`` are open, for probes. Requests that
another worker of the cluster forwards are signed, and pass as the one they were signed for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.rest.access.audit import audit
from penstock.rest.access.caller import ANYBODY, Caller, Role, set_current
from penstock.rest.access.certificate_protocol import shown_certificate
from penstock.rest.access.credentials import Doorkeeper, Refused
from penstock.rest.http.errors import error_response, http_text
from penstock.rest.http.limits import MAX_BODY_BYTES, in_time
from penstock.rest.http.requests import target
from penstock.runtime.cluster.peers import NOT_A_PEER
from penstock.runtime.stores.session_keys import in_form

LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN = frozenset({"/health", "/healthcheck"})
SQL = frozenset({"/ksql", "/query", "/query-stream", "/close-query"})
"""What the statements need is checked once it is known which they are."""
PEER_HEADER = "x-connect-authorization"


@dataclass(frozen=True)
class SignedRequest:
    """A request that says it comes from another worker of the cluster."""

    method: str
    target: str
    """Path and query as they were sent."""
    headers: Headers
    body: bytes


VerifyPeer = Callable[[SignedRequest], Caller | None]
"""Whom a request was signed for; None if its signature is not that of a peer."""


def no_peers(_: SignedRequest) -> None:
    """A worker that is alone."""


class Auth:
    """ASGI middleware; see the module. Without a ``doorkeeper`` everyone may do everything."""

    def __init__(
        self,
        app: ASGIApp,
        doorkeeper: Doorkeeper | None = None,
        verify_peer: VerifyPeer = no_peers,
    ) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._verify_peer = verify_peer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            caller, receive = await self._caller(scope, receive)
            _refuse_beyond_role(caller, scope)
        except Refused as refused:
            _audit(refused, scope)
            response = error_response(refused.status, str(refused), refused.next_step)
            response.headers.update(refused.headers)
            await response(scope, receive, send)
            return
        set_current(caller)
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope, receive: Receive) -> tuple[Caller, Receive]:
        headers, address = Headers(scope=scope), _address(scope)
        if PEER_HEADER in headers:
            if not in_form(headers):
                raise Refused(403, NOT_A_PEER, {})
            body = await _whole(receive)
            receive = _again(body, receive)
            signed = SignedRequest(scope["method"], target(scope), headers, body)
            peer = await to_thread.run_sync(self._verify_peer, signed)
            if peer is None:
                raise Refused(403, NOT_A_PEER, {})
            return replace(peer, address=peer.address or address), receive
        if self._doorkeeper is None or is_open(scope["method"], scope["path"]):
            caller = replace(ANYBODY, address=address)
        else:
            sent = headers.get("authorization")
            caller = await self._doorkeeper.admit(sent, address, shown_certificate(scope))
        return replace(caller, certificate=_subject(scope)), receive


def is_open(method: str, path: str) -> bool:
    """Whether it needs no authentication."""
    return path in OPEN and method in LOOKS


def needed(method: str, path: str) -> Role:
    """The least role for a request."""
    if method in LOOKS or (method == "POST" and path in SQL):
        return Role.READ
    return Role.ADMIN if f"{path}/".startswith("/admin/") else Role.OPERATE


def _refuse_beyond_role(caller: Caller, scope: Scope) -> None:
    role = needed(scope["method"], scope["path"])
    if caller.role < role:
        raise Refused(
            403,
            f"{scope['method']} {scope['path']} needs the role {role.word}, and {caller.name} has "
            f"the role {caller.role.word}.",
            {},
            caller.name,
            next_step="Ask someone with that role to do it, or to give you the role.",
        )


def _audit(refused: Refused, scope: Scope) -> None:
    """Looks are not worth a line."""
    if scope["method"] not in LOOKS:
        set_current(Caller(refused.who, Role.READ, _address(scope), _subject(scope)))
        audit(f"{scope['method']} {scope['path']}", None, f"refused: {refused.status}")


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _subject(scope: Scope) -> str:
    certificate = shown_certificate(scope)
    return certificate.subject if certificate else ""


async def _whole(receive: Receive) -> bytes:
    """The body, within its limits: its sender is not known yet."""
    try:
        with in_time():
            return await _all_of(receive)
    except HTTPException as beyond:
        raise Refused(beyond.status_code, http_text(beyond.status_code), {}) from None


async def _all_of(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413)
        if not message.get("more_body"):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read to check its signature, for those who come after."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return left.pop() if left else await receive()

    return next_message
