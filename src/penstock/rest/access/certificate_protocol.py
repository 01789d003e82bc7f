"""How a request comes to know the certificate of the client that sent it.

It is that of the connection, which TLS has verified. Nothing in a request can stand in for it.
"""

from __future__ import annotations

import asyncio
from typing import cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.rest.access.certificate_names import ClientCertificate

EXTENSION = "penstock.client_certificate"


class CertificateProtocol(H11Protocol):
    """uvicorn's, which by itself does not tell an application of certificates."""

    def connection_made(  # type: ignore[override]  # as uvicorn has it
        self, transport: asyncio.Transport
    ) -> None:
        """Remember the certificate for each request of this connection."""
        super().connection_made(transport)
        connection = transport.get_extra_info("ssl_object")
        shown = connection.getpeercert() if connection is not None else None
        if shown:
            self.app = _told(cast("ASGIApp", self.app), ClientCertificate.of(shown))


def shown_certificate(scope: Scope) -> ClientCertificate | None:
    """The verified certificate of the sender of a request."""
    found: ClientCertificate | None = scope.get("extensions", {}).get(EXTENSION)
    return found


def _told(app: ASGIApp, certificate: ClientCertificate) -> ASGIApp:
    async def with_certificate(scope: Scope, receive: Receive, send: Send) -> None:
        extensions = {**scope.get("extensions", {}), EXTENSION: certificate}
        await app({**scope, "extensions": extensions}, receive, send)

    return with_certificate
