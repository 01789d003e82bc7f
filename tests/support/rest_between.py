"""Stands between a client and a server: notes every request, and can act at one of them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Lose = Callable[[str, str, str], bool]
KEPT = ("content-type", "authorization", "accept")


class RestBetween:
    """Passes everything on to ``target``.

    ``client`` asks the target, where that takes more than an address. Watches of Kubernetes are
    passed on as they come. ``lose`` is asked at every request that may change something, with
    ``before`` or ``after``, method and path: true loses the request, or the answer to it.
    """

    def __init__(self, target: str, client: httpx.Client | None = None) -> None:
        self.seen: list[tuple[str, str]] = []
        self._http = client or httpx.Client(base_url=target, timeout=100, trust_env=False)
        self.lose: Lose = lambda _when, _method, _path: False
        self._watches: dict[threading.Thread, socket.socket] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        # A thread that reads from a closed descriptor would read what belongs to its next owner.
        for thread, reading in list(self._watches.items()):
            with contextlib.suppress(OSError):
                reading.shutdown(socket.SHUT_RDWR)
            thread.join(10)
        self._http.close()

    @contextlib.contextmanager
    def watching(self, answer: httpx.Response) -> Iterator[None]:
        """While the present thread reads a watch, which only its end makes it leave."""
        stream = answer.extensions["network_stream"]
        self._watches[threading.current_thread()] = stream.get_extra_info("socket")
        try:
            yield
        finally:
            del self._watches[threading.current_thread()]

    def count(self, method: str, ending: str) -> int:
        """How many requests have reached the server."""
        return sum(1 for found, path in self.seen if found == method and path.endswith(ending))

    def changes(self) -> list[tuple[str, str]]:
        """The requests that may change something."""
        return [(method, path) for method, path in self.seen if method != "GET"]

    @contextlib.contextmanager
    def pass_on(
        self, method: str, path: str, headers: Any, body: bytes
    ) -> Iterator[httpx.Response | None]:
        """The answer, not yet read; None if the request or its answer is lost."""
        plain, kept = path.split("?", maxsplit=1)[0], _kept(headers)
        if method != "GET" and self.lose("before", method, plain):
            yield None
            return
        with self._http.stream(method, path, headers=kept, content=body) as answer:
            self.seen.append((method, plain))
            lost = method != "GET" and self.lose("after", method, plain)
            yield None if lost else answer


def _kept(headers: Any) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key.lower() in KEPT}


def _handler(between: RestBetween) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            with between.pass_on(self.command, self.path, self.headers, body) as answer:
                if answer is None:
                    self.close_connection = True
                    return
                try:
                    self._answer(answer)
                except (OSError, httpx.HTTPError):
                    self.close_connection = True  # one of the two is gone, as tests want it

        def _answer(self, answer: httpx.Response) -> None:
            self.send_response(answer.status_code)
            if "content-type" in answer.headers:
                self.send_header("Content-Type", answer.headers["content-type"])
            if "watch=true" in self.path:
                self._stream(answer)
                return
            content = answer.read()
            if answer.status_code != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, answer: httpx.Response) -> None:
            self.send_header("Connection", "close")
            self.end_headers()
            with between.watching(answer):
                for part in answer.iter_raw():
                    self.wfile.write(part)

        do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _pass  # noqa: N815 (the base class's)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    return Handler
