"""A server in front of a real OpenSearch, or alone, that wants a password and fails on request."""

from __future__ import annotations

import base64
import gzip
import json
import ssl
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from certificates import Certificate

USER, PASSWORD = "penstock", "hunter2-search"


class PlayedSearch:
    """Runs while the ``with`` block does. Without a server behind it, everything succeeds."""

    def __init__(self, behind: str = "", certificate: Certificate | None = None) -> None:
        self.behind = behind
        self.hosts: set[str] = set()
        """Which hosts were asked for: another than this one if it serves as a proxy."""
        self.requests: list[tuple[str, str, str]] = []
        """Method, path and body of each request."""
        self.bulk_answers: deque[tuple[int, Mapping[str, Any]]] = deque()
        """What the next bulk requests are answered with, in place of carrying them out."""
        self.answering = threading.Event()
        """Cleared: bulk requests are carried out, but not answered until it is set."""
        self.answering.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_port
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.certificate, certificate.key)
            # The handshake in the request's own thread: one that fails must not end the server.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    def __enter__(self) -> PlayedSearch:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.answering.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(20)

    def config(self, **more: str) -> dict[str, str]:
        """How a connector reaches it."""
        return {
            "connection.url": self.url,
            "connection.username": USER,
            "connection.password": PASSWORD,
            "retry.backoff.ms": "1",
            **{key.replace("_", "."): value for key, value in more.items()},
        }

    def bulks(self) -> list[list[str]]:
        """The lines of each bulk request."""
        return [body.splitlines() for _, path, body in self.requests if path.startswith("/_bulk")]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body for one request."""
        self.requests.append((method, path, body.decode()))
        if path.startswith("/_bulk") and self.bulk_answers:
            status, told = self.bulk_answers.popleft()
            return status, json.dumps(told).encode()
        if self.behind:
            kind = "application/x-ndjson" if path.startswith("/_bulk") else "application/json"
            headers = {"Content-Type": kind}
            with httpx.Client(trust_env=False, timeout=60) as client:
                got = client.request(method, self.behind + path, content=body, headers=headers)
            if path.startswith("/_bulk"):
                self.answering.wait()
            return got.status_code, got.content
        return 200, json.dumps(_all_done(body) if path.startswith("/_bulk") else {}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        played = self
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                with suppress(ssl.SSLError):  # a client that does not trust the certificate
                    super().handle()

            def handle_one_request(self) -> None:
                self.do_GET = self.do_HEAD = self.do_PUT = self.do_POST = self._answer
                super().handle_one_request()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                status, content = 401, b'{"error": "no"}'
                if self.headers.get("Authorization") == wanted:
                    played.hosts.add(self.headers["Host"])
                    parts = urlsplit(self.path)
                    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
                    status, content = played.answer(self.command, path, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                with suppress(ConnectionError):  # the sink may have been killed
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(content)

            def log_message(self, format: str, *values: Any) -> None:
                pass

        return Handler


def _all_done(body: bytes) -> dict[str, Any]:
    lines = map(json.loads, body.decode().splitlines())
    actions = [line for line in lines if line.keys() & {"index", "update", "delete"}]
    return items(*[201] * len(actions))


def items(*statuses: int, kind: str = "x", reason: str = "because") -> dict[str, Any]:
    """The answer to a bulk request, with a status for each operation."""
    error = {"error": {"type": kind, "reason": reason}}
    told = [{"index": {"status": s, **(error if s >= 300 else {})}} for s in statuses]
    return {"errors": any(s >= 300 for s in statuses), "items": told}
