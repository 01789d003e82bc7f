"""`penstock up` as a process of its own, with a worker that only pretends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.rest import listen
from waiting import eventually

Run = Callable[..., Any]

# Stands in for penstock.runtime.worker: no broker, no Spark, the time each step is told to take.
PROGRAM = """
import os, sys, time, types
from unittest.mock import create_autospec
from penstock.rest.herder_api import HerderApi

class Worker:
    def __init__(self, config, *, embedded_kafka_port=None, worker_id="", tls=None):
        self.config = types.SimpleNamespace(properties={})
        self.herder = create_autospec(HerderApi, instance=True)
        self.own, self.started = self.herder, True
        self.herder.health.return_value = ("starting", "not yet")
        self.bootstrap_servers = ""
    def leads(self):
        return False
    def start(self, progress):
        progress("pretending")
        time.sleep(float(os.environ.get("FAKE_START", "0")))
        if os.environ.get("FAKE_FAILURE"):
            raise RuntimeError(os.environ["FAKE_FAILURE"])
        self.bootstrap_servers = "127.0.0.1:9"
        self.herder.health.return_value = ("healthy", "pretending")
    def stop(self):
        if os.environ.get("FAKE_STOP"):
            print("worker stops", flush=True)
            time.sleep(float(os.environ["FAKE_STOP"]))
        print("worker stopped", flush=True)

class WorkerConfig:
    from_properties = staticmethod(lambda properties, data_dir: properties)

sys.modules["penstock.runtime.worker"] = types.SimpleNamespace(
    Worker=Worker, WorkerConfig=WorkerConfig)
from penstock.cli import main
main()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_up(home: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def start(*command: str, **environment: str) -> "subprocess.Popen[str]":
        words = command or ("up", "--port", "0")
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words, "--data-dir", str(home / "data")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_for_note(home: Path, process: "subprocess.Popen[str]") -> dict[str, Any]:
    file = home / "state" / f"up-{process.pid}.json"

    def written() -> bool:
        assert process.poll() is None, process.communicate()
        return file.exists()

    eventually(written, within=30, what="its note")
    note: dict[str, Any] = json.loads(file.read_text())
    return note


def wait_for_health(url: str, status: int) -> None:
    def answers() -> bool:
        return httpx.get(f"{url}/health", trust_env=False, timeout=60).status_code == status

    eventually(answers, within=30, what=f"health {status}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_life_of_up(start_up: Start, home: Path, number: signal.Signals) -> None:
    process = start_up()
    url = wait_for_note(home, process)["url"]
    wait_for_health(url, 200)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert err == ""
    for line in (url, "127.0.0.1:9", str(home / "data" / "penstock.log"), " get plugins\n"):
        assert line in out
    assert out.endswith("Stopping ...\nworker stopped\nStopped.\n")
    assert list((home / "state").iterdir()) == []


def test_rest_answers_while_starting_and_a_signal_ends_the_start(
    start_up: Start, home: Path
) -> None:
    process = start_up(FAKE_START="60")
    url = wait_for_note(home, process)["url"]
    wait_for_health(url, 503)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "worker stopped" in out


def test_second_signal_ends_at_once(start_up: Start, home: Path) -> None:
    process = start_up(FAKE_STOP="60")
    wait_for_health(wait_for_note(home, process)["url"], 200)
    process.send_signal(signal.SIGINT)
    assert process.stdout
    while "worker stops" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130


def test_failed_start_is_told_in_a_line(start_up: Start, home: Path) -> None:
    process = start_up(FAKE_FAILURE="no luck")
    out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err == "Error: Unexpected RuntimeError: no luck (--debug shows where)\n"
    assert "worker stopped" in out
    assert list((home / "state").iterdir()) == []


def test_taken_port_is_told(run: Run, home: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = run("up", "--port", port, "--data-dir", str(home / "data"))
    assert result.code == 1
    assert f"Port {port} on 127.0.0.1 is taken" in result.err


def test_wrong_worker_config_is_told(run: Run, home: Path) -> None:
    file = home / "w.properties"
    file.write_text("group.id\n")
    result = run("up", "--worker-config", str(file), "--data-dir", str(home / "data"))
    assert result.code == 1
    assert f"{file}, line 1: no value" in result.err


def test_worker_listens_where_its_file_says(start_up: Start, home: Path) -> None:
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    file = home / "w.properties"
    file.write_text(f"bootstrap.servers=127.0.0.1:9\nlisteners=http://:{port}\n")
    process = start_up("worker", "-c", str(file))
    assert wait_for_note(home, process)["url"] == f"http://127.0.0.1:{port}"
    wait_for_health(f"http://127.0.0.1:{port}", 200)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("worker stopped\nStopped.\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("group.id=g\n", 'Missing required configuration "bootstrap.servers"'),
        (
            "bootstrap.servers=h:1\nlisteners=http://0.0.0.0:1\n",
            "Other machines could reach the REST API",
        ),
    ],
)
def test_a_worker_that_cannot_start(run: Run, home: Path, text: str, told: str) -> None:
    file = home / "w.properties"
    file.write_text(text)
    result = run("worker", "-c", str(file), "--data-dir", str(home / "data"))
    assert result.code == 1
    assert told in result.err


@pytest.mark.parametrize(("option", "enabled"), [((), None), (("--spark-ui",), "true")])
def test_sparks_web_ui_is_on_request(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str], enabled: str | None
) -> None:
    served: list[dict[str, str]] = []
    monkeypatch.setattr(
        "penstock.cli.up.serve", lambda properties, *_, **__: served.append(properties)
    )
    assert run("up", *option, "--data-dir", str(home / "data")).code == 0
    assert served[0].get("spark.ui.enabled") == enabled
