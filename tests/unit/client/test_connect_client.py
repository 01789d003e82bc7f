"""The client against the real REST application: each method, and each kind of failure."""

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.client import ConnectApiError, ConnectClient, ConnectError, WorkerUnreachable
from penstock.client.connect import encode
from penstock.runtime.errors import Conflict, NotFound

OFFSETS = [{"partition": {"filename": "f"}, "offset": None}]


@pytest.mark.parametrize(
    ("ask", "called", "returned"),
    [
        (lambda c: c.root(), ("root",), {"version": "1"}),
        (lambda c: c.loggers(), ("loggers",), {"root": {"level": "INFO"}}),
        (lambda c: c.logger("a.b"), ("logger", "a.b"), {"level": "INFO"}),
        (lambda c: c.set_logger_level("a", "x"), ("set_logger_level", "a", "x"), ["a"]),
        (lambda c: c.connectors(), ("connectors",), ["a"]),
        (lambda c: c.create("n", {"a": "b"}), ("create", "n", {"a": "b"}, None), {"name": "n"}),
        (lambda c: c.create("n", {}, "stopped"), ("create", "n", {}, "STOPPED"), {"name": "n"}),
        (lambda c: c.patch_config("n", {"a": None}), ("patch_config", "n", {"a": None}), {"x": 1}),
        (lambda c: c.info("n"), ("info", "n"), {"name": "n"}),
        (lambda c: c.config("n"), ("config", "n"), {"a": "b"}),
        (lambda c: c.status("n"), ("status", "n"), {"name": "n"}),
        (lambda c: c.tasks("n"), ("tasks", "n"), []),
        (lambda c: c.task_status("n", 2), ("task_status", "n", 2), {"id": 2}),
        (lambda c: c.reset_topics("n"), ("reset_topics", "n"), None),
        (lambda c: c.delete("n"), ("delete", "n"), None),
        (lambda c: c.pause("n"), ("pause", "n"), None),
        (lambda c: c.resume("n"), ("resume", "n"), None),
        (lambda c: c.stop("n"), ("stop", "n"), None),
        (lambda c: c.restart("n"), ("restart", "n", False, False), None),
        (
            lambda c: c.restart("n", include_tasks=True),
            ("restart", "n", True, False),
            {"name": "n"},
        ),
        (lambda c: c.restart("n", only_failed=True), ("restart", "n", False, True), {"name": "n"}),
        (lambda c: c.restart_task("n", 1), ("restart_task", "n", 1), None),
        (lambda c: c.alter_offsets("n", OFFSETS), ("alter_offsets", "n", OFFSETS), "altered"),
        (lambda c: c.reset_offsets("n"), ("reset_offsets", "n"), "reset"),
        (lambda c: c.plugins(), ("plugins", True), []),
        (lambda c: c.plugins(connectors_only=False), ("plugins", False), []),
        (lambda c: c.plugin_config("P"), ("plugin_config", "P"), []),
        (lambda c: c.validate("P", {"a": 1}), ("validate", "P", {"a": "1"}), {"error_count": 0}),
    ],
)
def test_method(
    client: ConnectClient,
    herder: Mock,
    ask: Callable[[ConnectClient], Any],
    called: Any,
    returned: Any,
) -> None:
    name, *args = called
    getattr(herder, name).return_value = returned
    assert ask(client) == returned
    getattr(herder, name).assert_called_once_with(*args)


def test_answers_that_are_unwrapped(client: ConnectClient, herder: Mock) -> None:
    herder.offsets.return_value = {"offsets": OFFSETS}
    herder.topics.return_value = {"n": {"topics": ["t"]}}
    herder.put_config.return_value = (True, {"name": "n"})
    herder.connectors.return_value = ["n"]
    herder.info.return_value = {"name": "n"}
    assert client.offsets("n") == OFFSETS
    assert client.topics("n") == ["t"]
    assert client.put_config("n", {}) == {"name": "n"}
    assert client.expanded("info") == {"n": {"info": {"name": "n"}}}


@pytest.mark.parametrize("name", ["a->b", "a/b", "..", ".", "a b+c", "ü%2F", "a?b#c", "%"])
def test_any_name_arrives(client: ConnectClient, herder: Mock, name: str) -> None:
    herder.info.return_value = {}
    client.info(name)
    herder.info.assert_called_once_with(name)


def test_encoding_leaves_nothing_that_paths_give_a_meaning() -> None:
    assert encode("a/../b.c") == "a%2F%2E%2E%2Fb%2Ec"


@pytest.mark.parametrize("word", ["healthy", "starting", "unhealthy"])
def test_health_is_no_error(client: ConnectClient, herder: Mock, word: str) -> None:
    herder.health.return_value = (word, "so it is")
    assert client.health() == {"status": word, "message": "so it is"}


@pytest.mark.parametrize(
    ("error", "status"),
    [(NotFound("Connector n not found"), 404), (Conflict("Connector n already exists"), 409)],
)
def test_errors_of_the_worker(
    client: ConnectClient, herder: Mock, error: Exception, status: int
) -> None:
    herder.delete.side_effect = error
    with pytest.raises(ConnectApiError) as caught:
        client.delete("n")
    assert (caught.value.status, caught.value.message) == (status, str(error))
    assert str(caught.value) == str(error)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_nobody_answers() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with ConnectClient(url) as client, pytest.raises(WorkerUnreachable) as caught:
        client.connectors()
    assert caught.value.url == url
    for word in (url, "penstock up", "--url", "PENSTOCK_URL"):
        assert word in str(caught.value)


def test_nobody_answers_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with (
            ConnectClient(url, timeout=0.2) as client,
            pytest.raises(WorkerUnreachable, match="too long"),
        ):
            client.connectors()


@pytest.mark.parametrize("url", ["", "localhost:8083", "ftp://x", "http://"])
def test_urls_that_are_none(url: str) -> None:
    with pytest.raises(ConnectError, match="is not the URL of a worker"):
        ConnectClient(url)


class Stranger(BaseHTTPRequestHandler):
    """Some other web server."""

    def do_GET(self) -> None:
        self.send_response(500 if self.path == "/" else 200)
        self.end_headers()
        self.wfile.write(b"[]" if self.path.endswith("/status") else b"<html>hello</html>")

    def log_message(self, *_: Any) -> None:
        pass


def test_strangers_are_noticed() -> None:
    server = HTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    with ConnectClient(f"http://127.0.0.1:{server.server_port}") as client:
        for ask in (client.root, client.connectors, client.health, lambda: client.status("n")):
            with pytest.raises(ConnectApiError):
                ask()
    server.shutdown()
    thread.join()
    server.server_close()


def test_proxies_are_not_asked_about_this_machine(
    client: ConnectClient, herder: Mock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    herder.connectors.return_value = []
    with ConnectClient(client.url) as other:
        assert other.connectors() == []
