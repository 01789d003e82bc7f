"""``/healthz`` and ``/metrics`` of an operator, leading or waiting to lead."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from penstock.operator.metrics import Metrics


class HealthServer:
    """Answers from `start` to `stop`. ``healthy`` is asked each time."""

    def __init__(self, host: str, port: int, metrics: Metrics, healthy: Callable[[], bool]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/healthz":
                    good = healthy()
                    self._answer(200 if good else 500, "ok\n" if good else "not watching\n")
                elif self.path == "/metrics":
                    self._answer(200, metrics.render())
                else:
                    self._answer(404, "try /healthz or /metrics\n")

            def _answer(self, status: int, text: str) -> None:
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Probes are no news."""

        self._server = ThreadingHTTPServer((host, port), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
