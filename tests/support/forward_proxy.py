"""An HTTP proxy that leads one address to another, and refuses all others.

Without a kubelet a Service's address leads nowhere. Tests that ask a worker through its Service map
that address, and that alone, to the worker that is really there.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx


class ForwardProxy:
    """Set HTTP_PROXY to `url`. ``mapped`` is host:port of a Service, to the url of a worker."""

    def __init__(self, mapped: dict[str, str]) -> None:
        http = httpx.Client(timeout=100, trust_env=False)
        asked = self.asked = []  # type: list[str]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass(self) -> None:
                wanted = urlsplit(self.path)
                asked.append(wanted.netloc)
                target = mapped.get(wanted.netloc)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if target is None:
                    self._answer(502, b"nobody is at this address", "text/plain")
                    return
                path = wanted.path + (f"?{wanted.query}" if wanted.query else "")
                kind = self.headers.get("Content-Type")
                answer = http.request(
                    self.command,
                    target + path,
                    content=body,
                    headers={"Content-Type": kind} if kind else {},
                )
                self._answer(
                    answer.status_code, answer.content, answer.headers.get("content-type", "")
                )

            def _answer(self, status: int, content: bytes, kind: str) -> None:
                self.send_response(status)
                if kind:
                    self.send_header("Content-Type", kind)
                if status != 204:
                    self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _pass  # noqa: N815 (the base's)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def environment(self) -> dict[str, str]:
        """For a process that asks through it."""
        return {"HTTP_PROXY": self.url, "http_proxy": self.url, "NO_PROXY": "127.0.0.1,localhost"}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
