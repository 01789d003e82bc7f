"""Requests to the nodes of one cluster."""

from __future__ import annotations

import gzip
import ssl
from collections.abc import Collection
from typing import Any, Final

import httpx

from penstock.plugins.search.search_errors import refused, unreachable
from penstock.plugins.search.sink_config import TRUSTED
from penstock.plugins.search.sink_settings import Server
from penstock.sdk.errors import ConfigError, PenstockError

_FAST: Final = 1
"""The level of compression: the network is seldom slower than a higher one."""


class SearchClient:
    """Uses one node for as long as it answers, then the next. Thread-safe."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._place = 0
        # Nothing is taken from the environment: it is the worker's, not the connector's.
        self._http = httpx.Client(
            auth=_login(server.username, server.password),
            verify=_trust(server),
            proxy=_proxy(server),
            timeout=httpx.Timeout(server.read_seconds, connect=server.connect_seconds),
            trust_env=False,
        )

    @property
    def server(self) -> Server:
        """How the cluster is reached."""
        return self._server

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        doing: str,
        *,
        body: bytes | None = None,
        kind: str = "application/json",
        accepted: Collection[int] = (200, 201),
    ) -> httpx.Response:
        """An answer with one of the ``accepted`` statuses.

        ``RetriableError`` if the same request may succeed later, ``UserError`` otherwise; ``doing``
        completes "while" in their texts.
        """
        headers = {} if body is None else {"Content-Type": kind}
        if body is not None and self._server.compression:
            body, headers["Content-Encoding"] = gzip.compress(body, _FAST), "gzip"
        tries = len(self._server.urls)
        answer = self._answer(method, path, tries, content=body, headers=headers)
        if answer.status_code in accepted:
            return answer
        raise self.refusal(answer, doing)

    def _answer(self, method: str, path: str, tries: int, **more: Any) -> httpx.Response:
        """From the first node that has one, beginning with the last that had."""
        place = self._place
        url = self._server.urls[place]
        try:
            return self._http.request(method, url + path, **more)
        except httpx.TransportError as error:
            self._place = (place + 1) % len(self._server.urls)
            if tries == 1:
                raise unreachable(self._server, url, error) from None
        return self._answer(method, path, tries - 1, **more)

    def refusal(self, answer: httpx.Response, doing: str) -> PenstockError:
        """What to raise for an answer that is an error."""
        place = answer.request.url.copy_with(raw_path=b"/", query=None)
        return refused(self._server, str(place).rstrip("/"), doing, answer)


def _login(username: str | None, password: str | None) -> httpx.BasicAuth | None:
    return httpx.BasicAuth(username, password or "") if username else None


def _proxy(server: Server) -> httpx.Proxy | None:
    if server.proxy is None:
        return None
    user = server.proxy_username
    return httpx.Proxy(server.proxy, auth=(user, server.proxy_password or "") if user else None)


def _trust(server: Server) -> ssl.SSLContext | bool:
    if not server.urls[0].startswith("https://"):
        return False  # no address has a certificate, and reading those of authorities takes time
    try:
        return ssl.create_default_context(cafile=server.trusted)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "strerror", None) or "it has no certificates"
        message = f"The file that '{TRUSTED}' names cannot be used: {why}."
        raise ConfigError(message, key=TRUSTED) from None
