"""Which worker a command talks to: option, environment, running `up`, in this order."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from penstock.cli.discovery import find_bootstrap_servers, find_url
from penstock.cli.paths import default_data_dir, state_dir
from penstock.cli.running import Running, running
from penstock.sdk.errors import UserError

Run = Callable[..., Any]


def note(url: str, *, process: psutil.Process | None = None, kafka: str = "k:1") -> Running:
    process = process or psutil.Process()
    left = Running(url, kafka, process.pid, "/data", process.create_time())
    left.write()
    return left


def test_option_goes_first(run: Run, herder: Mock, url: str, monkeypatch: Any) -> None:
    herder.plugins.return_value = []
    note("http://127.0.0.1:1")
    monkeypatch.setenv("PENSTOCK_URL", "http://127.0.0.1:1")
    assert run("get", "plugins", "--url", url).code == 0


def test_environment_goes_before_running_workers(
    run: Run, herder: Mock, url: str, monkeypatch: Any
) -> None:
    herder.plugins.return_value = []
    note("http://127.0.0.1:1")
    assert run("get", "plugins").code == 1
    monkeypatch.setenv("PENSTOCK_URL", url)
    assert run("get", "plugins").code == 0


def test_running_worker_is_found(run: Run, herder: Mock, url: str) -> None:
    herder.plugins.return_value = []
    note(url)
    result = run("get", "plugins")
    assert (result.code, result.err) == (0, "")


def test_newest_of_several_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    note("http://older:1")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as newest:
        note("http://newest:1", process=psutil.Process(newest.pid))
        assert [worker.url for worker in running()] == ["http://newest:1", "http://older:1"]
        assert find_url(None) == "http://newest:1"
        newest.kill()
    assert "2 workers run here; talking to the newest, http://newest:1" in capsys.readouterr().err


def test_dead_workers_and_rubbish_are_ignored(run: Run, home: Path) -> None:
    left = note("http://dead:1")
    replace(left, started=left.started - 100).write()
    (home / "state" / "up-1.json").write_text("{")
    (home / "state" / "up-2.json").write_text(json.dumps({"url": "x"}))
    (home / "state" / "up-3.json").write_text(json.dumps([1]))
    assert running() == []
    result = run("get", "connectors")
    assert result.code == 1
    for word in ("No worker found", "penstock up", "--url", "PENSTOCK_URL"):
        assert word in result.err


def test_note_is_removed(home: Path) -> None:
    left = note("http://x:1")
    assert left.note == home / "state" / f"up-{os.getpid()}.json"
    left.remove()
    left.remove()
    assert not left.note.exists()


def test_brokers_are_found() -> None:
    with pytest.raises(UserError, match=r"No broker found.*--bootstrap-servers"):
        find_bootstrap_servers(None)
    note("http://x:1", kafka="")
    with pytest.raises(UserError, match="is starting"):
        find_bootstrap_servers(None)
    note("http://x:1", kafka="k:9092")
    assert find_bootstrap_servers(None) == "k:9092"
    assert find_bootstrap_servers("given:1") == "given:1"


@pytest.mark.parametrize(
    ("variables", "data", "state"),
    [
        ({}, "{home}/.local/share/penstock", "{home}/.local/state/penstock"),
        (
            {"XDG_DATA_HOME": "/x/d", "XDG_STATE_HOME": "/x/s"},
            "/x/d/penstock",
            "/x/s/penstock",
        ),
        (
            {"XDG_DATA_HOME": "relative", "XDG_STATE_HOME": ""},
            "{home}/.local/share/penstock",
            "{home}/.local/state/penstock",
        ),
        ({"PENSTOCK_DATA_DIR": "~/d", "PENSTOCK_STATE_DIR": "/s"}, "{home}/d", "/s"),
    ],
)
def test_places(
    home: Path, monkeypatch: Any, variables: dict[str, str], data: str, state: str
) -> None:
    for name in ("PENSTOCK_STATE_DIR", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(default_data_dir()) == data.format(home=home)
    assert str(state_dir()) == state.format(home=home)
