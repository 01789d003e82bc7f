"""How large, deep and slow a request may be, and what headers go with every answer."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import httpx
import pytest

from penstock.rest.http import limits, requests
from penstock.rest.http.limits import MAX_DEPTH, refuse_deep
from penstock.rest.http.long_json import LongJson
from penstock.rest.routes import connectors as routes_connectors
from penstock.runtime.errors import BadRequest

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("opener", [b"[", b'{"a":'])
def test_nesting_is_limited(http: httpx.Client, opener: bytes) -> None:
    for count in (MAX_DEPTH + 1, 100_000):
        answer = http.patch("/connectors/n/offsets", content=opener * count, headers=JSON)
        assert answer.status_code == 400
        assert "nesting depth exceeds the maximum allowed, 64" in answer.json()["message"]


def test_what_is_wide_or_text_is_not_deep() -> None:
    refuse_deep(b"[" + b",".join([b'{"a":["b"]}'] * 1000) + b"]")
    refuse_deep(b'{"a": "' + b"[" * 1000 + b'\\"' + b"[" * 1000 + b'"}')
    refuse_deep(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(BadRequest):
        refuse_deep(b'"\\\\"' + b"[" * (MAX_DEPTH + 1))


@pytest.mark.parametrize("body", [b"[]" * 5_000_000, b'"\\"' * 3_000_000, b'"' * 9_999_999])
def test_the_worst_of_bodies_are_looked_at_to_their_end(body: bytes) -> None:
    """In one pass: a look whose work grows with the square of the length would take days."""
    refuse_deep(body)


def test_depth_is_counted_over_stretches_of_a_long_body() -> None:
    wide = b'"[", ' * 5000
    refuse_deep(b"[" * MAX_DEPTH + wide + b"]" * MAX_DEPTH)
    refuse_deep((b"[" * MAX_DEPTH + wide + b"]" * MAX_DEPTH) * 3)
    for deep in (b"[" * 40 + wide + b"[" * 25, b"[" * 40 + b'"' + b"[" * 9_999 + b'"' + b"{" * 25):
        with pytest.raises(BadRequest):
            refuse_deep(deep)


@pytest.mark.parametrize("part", ["refuse_deep", "config_map"])
def test_a_long_body_holds_nobody_up(
    http: httpx.Client, herder: Mock, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """While it is looked at, others are answered."""
    module = requests if part == "refuse_deep" else routes_connectors
    look, looking, answered = getattr(module, part), threading.Event(), threading.Event()

    def slow(body: bytes) -> object:
        looking.set()
        assert answered.wait(20)
        return look(body)

    monkeypatch.setattr(module, part, slow)
    herder.put_config.return_value = (False, {"config": {}})
    config = {"a": "b" * requests.LONG_BODY_BYTES}
    with ThreadPoolExecutor(1) as pool:
        put = pool.submit(http.put, "/connectors/n/config", json=config, timeout=30)
        assert looking.wait(20)
        assert http.get("/health", timeout=15).status_code == 200
        answered.set()
        assert put.result().status_code == 200
    herder.put_config.assert_called_once_with("n", config)


def test_offsets_are_written_where_they_hold_nobody_up(
    http: httpx.Client, herder: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    render = LongJson.render

    def noted(response: LongJson, content: object) -> bytes:
        threads.append(threading.current_thread().name)
        return render(response, content)

    monkeypatch.setattr(LongJson, "render", noted)
    herder.offsets.return_value = {"offsets": []}
    assert http.get("/connectors/n/offsets").json() == {"offsets": []}
    assert [name.startswith("AnyIO worker thread") for name in threads] == [True]


def test_a_body_that_dawdles_is_refused(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    host, port = http.base_url.host, http.base_url.port
    with socket.create_connection((host, port or 0), timeout=10) as slow:
        slow.sendall(
            f"PUT /connectors/n/config HTTP/1.1\r\nHost: {host}:{port}\r\n"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
        )
        answer = slow.recv(4096).decode()
    assert answer.startswith("HTTP/1.1 408")


def test_headers_of_every_answer(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = []
    origin = {"Origin": "http://evil.example"}
    answers = [
        http.get("/connectors"),
        http.get("/no/such/path"),
        http.get("/connectors", headers={"Host": "evil.example"}),
        http.get("/connectors", headers=origin),
        http.options("/connectors", headers={**origin, "Access-Control-Request-Method": "PUT"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 403, 403, 403]
    for answer in answers:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_huge_headers_are_refused(http: httpx.Client) -> None:
    try:
        status = http.get("/health", headers={"X-Much": "x" * 1_000_000}).status_code
    except httpx.TransportError:
        status = 400  # closed in the midst of sending
    assert status == 400
    assert http.get("/health").status_code == 200
