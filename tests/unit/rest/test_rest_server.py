"""The server: ports, its end, and slow calls that do not hold up others."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import httpx
import pytest

from penstock.rest import RestServer, RestServerError, create_app, listen
from penstock.rest.http import calls

Running = tuple[RestServer, list[float]]


@pytest.fixture
def running(herder: Mock, monkeypatch: pytest.MonkeyPatch) -> Running:
    """A server that runs, and the seconds for which it was willing to wait for its end."""
    server, waits = RestServer(create_app(herder), port=0), list[float]()
    join = server._thread.join

    def waiting(timeout: float) -> None:
        waits.append(timeout)
        join(timeout)

    monkeypatch.setattr(server._thread, "join", waiting)
    server.start()
    return server, waits


def test_taken_port_is_told(herder: Mock) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RestServerError, match=rf"Port {port} .* is taken .*--port"):
            RestServer(create_app(herder), port=port).start()


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("no.such.host.invalid", 0)])
def test_impossible_addresses_are_told(host: str, port: int) -> None:
    with pytest.raises(RestServerError):
        listen(host, port)


def test_serves_on_a_given_socket(herder: Mock) -> None:
    listener = listen("127.0.0.1", 0)
    server = RestServer(create_app(herder), listener=listener)
    server.start()
    assert server.port == listener.getsockname()[1]
    assert httpx.get(f"{server.url}/health", trust_env=False, timeout=60).status_code == 200
    server.stop()


def test_stop_does_not_wait_for_open_connections(running: Running) -> None:
    server, waits = running
    with httpx.Client(base_url=server.url, trust_env=False, timeout=60) as idle:
        idle.get("/health")
        half_sent = socket.create_connection(("127.0.0.1", server.port))
        half_sent.sendall(b"PUT /connectors/n/config HTTP/1.1\r\nContent-Le")
        server.stop()
        assert 0 < sum(waits) < 2
        half_sent.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health", trust_env=False, timeout=60)


def test_stop_does_not_wait_for_slow_calls(running: Running, herder: Mock) -> None:
    release, begun, finished = threading.Event(), threading.Event(), threading.Event()

    def slow(_: str) -> None:
        begun.set()
        release.wait(20)
        finished.set()

    herder.stop.side_effect = slow
    server, waits = running
    with ThreadPoolExecutor(1) as pool:
        url = f"{server.url}/connectors/n/stop"
        request = pool.submit(httpx.put, url, trust_env=False, timeout=60)
        assert begun.wait(60)
        server.stop()
        assert not finished.is_set()
        assert 0 < sum(waits) < 2
        release.set()
        request.exception(60)


def test_stop_may_be_repeated_and_come_first(herder: Mock) -> None:
    server = RestServer(create_app(herder), port=0)
    server.stop()
    server.stop()


def test_looks_do_not_queue_behind_slow_calls(http: httpx.Client, herder: Mock) -> None:
    release = threading.Event()
    waiting = threading.Semaphore(0)

    def slow(_: str) -> None:
        waiting.release()
        release.wait(30)

    herder.stop.side_effect = slow
    herder.connectors.return_value = ["a"]
    with ThreadPoolExecutor(calls.SLOW_CALLS + 4) as pool:
        try:
            for _ in range(calls.SLOW_CALLS + 4):
                pool.submit(http.put, "/connectors/n/stop", timeout=60)
            for _ in range(calls.SLOW_CALLS):
                assert waiting.acquire(timeout=30)
            assert http.get("/health").status_code == 200
            assert http.get("/connectors").json() == ["a"]
        finally:
            release.set()


def test_endless_call_is_answered(
    http: httpx.Client, herder: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    herder.stop.side_effect = lambda _: release.wait(30)
    monkeypatch.setattr(calls, "REQUEST_SECONDS", 0.1)
    response = http.put("/connectors/n/stop")
    release.set()
    assert response.status_code == 500
    assert response.json()["error_code"] == 500
    assert response.json()["message"].startswith("Request timed out. The worker is currently ")


def test_no_part_of_an_answer_waits_for_an_acknowledgement() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
