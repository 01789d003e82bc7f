"""Requests to an API server that is busy, told by a server of our own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from penstock.kube import KubeApi, KubeConfig, KubeError
from penstock.kube import api as module

BUSY = {"message": "storage is (re)initializing", "reason": "TooManyRequests"}


@contextmanager
def _server(refusals: int, status: int, headers: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """A server that refuses so many requests; its address, and the bodies it was sent."""
    bodies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            refused = len(bodies) <= refusals
            answer = json.dumps(BUSY if refused else {"kind": "Done"}).encode()
            self.send_response(status if refused else 200)
            for name, value in (headers if refused else {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_asks_for_a_later_try_gets_the_same_request_again(status: int) -> None:
    with _server(2, status, {"Retry-After": "0"}) as (address, bodies):
        api = KubeApi(KubeConfig(address, "default"))
        assert api.request("POST", "/thing", {"a": 1}) == {"kind": "Done"}
        api.close()
    assert bodies == ['{"a": 1}'] * 3


def test_an_error_without_such_a_wish_is_told_at_once() -> None:
    with _server(1, 503, {}) as (address, bodies):
        api = KubeApi(KubeConfig(address, "default"))
        with pytest.raises(KubeError, match="initializing"):
            api.request("POST", "/thing", {})
        api.close()
    assert len(bodies) == 1


def test_a_server_that_stays_busy_is_told_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.5)
    with _server(99, 429, {"Retry-After": "1"}) as (address, bodies):
        api = KubeApi(KubeConfig(address, "default"))
        with pytest.raises(KubeError, match="initializing") as caught:
            api.request("POST", "/thing", {})
        api.close()
    assert caught.value.status == 429
    assert len(bodies) == 1
