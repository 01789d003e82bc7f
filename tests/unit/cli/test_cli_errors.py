"""Every way in which a command can fail: what happened, what to do next, and no traceback."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli.next_steps import next_step
from penstock.client import ConnectApiError, ConnectClient, ConnectorFailed, WaitTimeout
from penstock.embedded import DataFolderInUse
from penstock.rest import listen
from penstock.runtime.errors import BadRequest, Conflict, InternalError, NotFound, Unavailable
from penstock.runtime.loggers import Loggers

Run = Callable[..., Any]
COMMAND = [sys.executable, "-m", "penstock"]
COLOUR = re.compile(r"\x1b\[(\d+;)*(3[0-8]|9[0-7])[;m]")


@pytest.fixture
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Mock:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = ["n"]
    return herder


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NotFound("Connector n not found"), "penstock get connectors"),
        (NotFound("Unknown connector n"), "penstock get connectors"),
        (BadRequest("An offset is wrong"), "penstock get offsets NAME"),
        (BadRequest("It is not stopped").advising("Stop it first."), "Stop it first."),
        (Conflict("a rebalance was underway"), "try again in a moment"),
        (Unavailable("The worker is starting"), "Try again in a moment"),
        (InternalError("Request timed out"), "penstock logs"),
        (ZeroDivisionError("a defect"), "penstock logs"),
    ],
)
def test_what_the_worker_refuses(run: Run, worker: Mock, error: Exception, words: str) -> None:
    worker.reset_offsets.side_effect = error
    result = run("delete", "offsets", "n")
    assert (result.code, result.out) == (1, "")
    assert str(error) in result.err
    assert words in result.err.partition("Next:  ")[2]
    assert "Traceback" in run("--debug", "delete", "offsets", "n").err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("get", "logger", "x"), "penstock get loggers"),
        (("patch", "logger", "x", "-l", "loud"), "TRACE, DEBUG"),
        (("describe", "plugin", "x"), "penstock get plugins"),
        (("restart", "task", "n/7"), "penstock get connectors"),
    ],
)
def test_names_that_the_worker_does_not_know(
    run: Run, worker: Mock, args: tuple[str, ...], words: str
) -> None:
    worker.logger.side_effect = NotFound("Logger x not found.")
    worker.set_logger_level.side_effect = Loggers().change
    worker.plugin_config.side_effect = NotFound("Unknown plugin x.")
    worker.restart_task.side_effect = NotFound("Unknown task: n-7 of connector n")
    result = run(*args)
    assert result.code == 1
    assert words in result.err.partition("Next:  ")[2]


@pytest.mark.parametrize("task", ["n", "n/", "/0", "n/x", "n/-1", "n x", "n -1"])
def test_what_is_no_task(run: Run, worker: Mock, task: str) -> None:
    result = run("restart", "task", "--", *task.split())
    assert result.code == 1
    assert "write the connector and a number, as orders/0" in result.err
    worker.restart_task.assert_not_called()


@pytest.mark.parametrize("words", [("a/b/1",), ("a/b", "1")])
def test_restart_task(run: Run, worker: Mock, words: tuple[str, ...]) -> None:
    assert run("restart", "task", *words).out == "Task 1 of connector a/b is restarting.\n"
    worker.restart_task.assert_called_once_with("a/b", 1)


def test_describe_plugin(run: Run, worker: Mock) -> None:
    needed = {"required": True, "default_value": None, "documentation": "Where [it] is."}
    worker.plugin_config.return_value = [{"name": "file", "type": "STRING", **needed}]
    assert "Where [it] is." in run("describe", "plugin", "P").out
    assert json.loads(run("describe", "plugin", "P", "-o", "json").out)[0]["name"] == "file"
    assert "Example" not in run("describe", "plugin", "P").out
    assert "Guarantee" not in run("describe", "plugin", "P").out
    shown = run("describe", "plugin", "MirrorSource").out
    assert "Guarantee:\n    exactly once with consumer.isolation.level=" in shown
    example = json.loads(shown[shown.index("    {\n") :])
    assert example["config"]["source.cluster.alias"] == "paris"


class Stranger(BaseHTTPRequestHandler):
    """A web server that is no worker; the status it answers with is in the address."""

    def do_GET(self) -> None:
        self.send_response(int(self.path.split("/")[1]))
        self.end_headers()
        self.wfile.write(b'"text"' if "json" in self.path else b"<html>hello</html>")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("path", ["200", "200/json", "404", "405", "500", "502"])
def test_an_address_of_something_else(run: Run, stranger: str, path: str) -> None:
    result = run("get", "plugins", "--url", f"{stranger}/{path}")
    assert result.code == 1
    assert "Is this the address of a worker?" in result.err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nonsense", "one looks like http://127.0.0.1:8083"),
        ("http://:x", "one looks like http://127.0.0.1:8083"),
        ("http://127.0.0.1:1", "penstock up"),
        ("http://no.such.host.invalid:8083", "--url"),
    ],
)
def test_addresses_that_lead_nowhere(run: Run, url: str, words: str) -> None:
    result = run("get", "connectors", "--url", url)
    assert result.code == 1
    assert url in result.err
    assert words in result.err


def test_an_answer_that_takes_too_long(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConnectClient.__init__, "__defaults__", (0.2,))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        result = run("get", "connectors", "--url", url)
    assert result.code == 1
    assert "it took too long" in result.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "Give the path of a file"),
        (b"{", "Correct it there"),
        (b"[]", "put it in { }"),
        (b"\xff\xfe", "save it as one"),
        (b'{"a": "b"}', 'Add "name"'),
        (b'{"name": "n", "config": []}', "must be an object"),
    ],
)
def test_files(run: Run, worker: Mock, home: Path, content: bytes | None, words: str) -> None:
    file = home / "c.json"
    if content is not None:
        file.write_bytes(content)
    result = run("apply", "-f", str(file))
    assert result.code == 1
    assert str(file) in result.err
    assert words in result.err


def test_worker_config_that_is_not_there(run: Run, home: Path) -> None:
    result = run("up", "--worker-config", str(home / "none"), "--data-dir", str(home / "data"))
    assert result.code == 1
    assert "Check --worker-config" in result.err


def test_port_that_is_taken(run: Run, home: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = run("up", "--port", port, "--data-dir", str(home / "data"))
    assert result.code == 1
    assert "choose another port with --port" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_data_folder_without_rights(run: Run, home: Path) -> None:
    locked = home / "locked"
    locked.mkdir(mode=0o500)
    result = run("up", "--data-dir", str(locked / "data"))
    assert result.code == 1
    assert "Permission denied" in result.err
    assert "Choose another path" in result.err


def test_data_folder_below_a_file(run: Run, home: Path) -> None:
    (home / "file").touch()
    result = run("up", "--data-dir", str(home / "file" / "data"))
    assert result.code == 1
    assert "is a file: choose another" in result.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "/x"), "Choose another path"),
        (OSError(28, "No space left on device"), "--data-dir"),
        (WaitTimeout("Timed out"), "--wait"),
        (ConnectorFailed("Task 0 has FAILED"), "restart connector"),
        (ConnectApiError(403, "Host 'x' is not a name").advising("Use localhost."), "localhost"),
    ],
)
def test_next_steps(error: Exception, words: str) -> None:
    assert words in next_step(error)


@pytest.mark.parametrize("error", [KeyError("x"), DataFolderInUse(Path("d"), 5)])
def test_errors_that_need_no_more_words(error: Exception) -> None:
    assert next_step(error) == ""


def start(*args: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen([*COMMAND, *args], stderr=subprocess.PIPE, text=True, **options)


def test_ctrl_c_ends_a_command_without_a_word() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        process = start("get", "connectors", "--url", url, stdout=subprocess.PIPE)
        try:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            connection.close()
        finally:
            process.kill()
            process.communicate()
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize(
    "args", [("--help",), ("get", "loggers"), ("get", "loggers", "-o", "json")]
)
def test_a_reader_that_has_gone_is_no_error_to_speak_of(
    worker: Mock, args: tuple[str, ...]
) -> None:
    entry = {"level": "INFO", "last_modified": None}
    worker.loggers.return_value = {f"logger.{i}": entry for i in range(5000)}
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*args, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")


PIPED = [
    ("--help",),
    ("get", "loggers"),
    ("describe", "connector", "n"),
    ("stop", "connector", "n"),
    ("get", "connectors", "--url", "nonsense"),
    ("get", "connectors", "-o", "xml"),
    ("nonsense",),
    ("apply", "-f", "/no/such/file"),
    ("up", "--port", "many"),
]


@pytest.fixture
def answering(worker: Mock) -> Mock:
    """A worker with a connector that can be looked at and not stopped."""
    part = {"state": "RUNNING", "worker_id": "w", "trace": "it failed"}
    worker.status.return_value = {"type": "source", "connector": part, "tasks": [{"id": 0, **part}]}
    worker.info.return_value = {"name": "n", "type": "source", "config": {}}
    worker.topics.return_value = {"n": {"topics": []}}
    worker.offsets.return_value = {"offsets": []}
    worker.loggers.return_value = {}
    worker.stop.side_effect = NotFound("Unknown connector n")
    return worker


def test_no_colour_into_a_pipe(answering: Mock) -> None:
    environment = {**os.environ, "TERM": "xterm-256color"}
    process = start("get", "connectors", stdout=subprocess.PIPE, env=environment)
    out, err = process.communicate(timeout=60)
    assert "RUNNING" in out
    assert "\x1b" not in out + err
    assert "Traceback" not in err


@pytest.mark.parametrize("args", PIPED, ids=" ".join)
def test_no_colour_into_what_is_no_terminal(
    run: Run, answering: Mock, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    result = run(*args)
    assert result.out + result.err
    assert "\x1b" not in result.out + result.err


def on_a_terminal(*args: str, **environment: str) -> str:
    """What a person sees."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:
        pass  # Linux says so when the other end is closed.
    os.close(ours)
    process.wait(60)
    return seen.decode()


def test_colour_is_for_terminals_and_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    args = ("get", "connectors", "--url", "nonsense")
    assert COLOUR.search(on_a_terminal(*args))
    refused = on_a_terminal(*args, NO_COLOR="1")
    assert "is not the URL of a worker" in refused
    assert not COLOUR.search(refused)
