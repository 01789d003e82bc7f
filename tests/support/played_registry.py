"""A schema registry that answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Played:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any, str]] = []
        self.answer: tuple[int, Any] = (200, {"id": 5})

    @contextmanager
    def serving(self) -> Iterator[str]:
        played = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                played._serve(self)

            do_POST = do_GET  # noqa: N815 (the server's own names)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.05,))
            thread.start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
            thread.join()

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        size = int(request.headers.get("Content-Length") or 0)
        body = json.loads(request.rfile.read(size)) if size else None
        login = request.headers.get("Authorization", "")
        self.asked.append((request.command, request.path, body, login))
        status, answer = self.answer
        text = json.dumps(answer).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(text)))
        request.end_headers()
        request.wfile.write(text)
