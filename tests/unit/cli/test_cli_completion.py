"""Shell completion, as a shell asks for it."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from waiting import eventually

Complete = Callable[[str], list[str]]

COMMAND = [sys.executable, "-m", "penstock"]


def asked(line: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """What bash does when somebody types ``line`` and presses tab."""
    words = line.split(" ")
    return subprocess.run(
        COMMAND,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            **os.environ,
            "_PENSTOCK_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
            **environment,
        },
    )


@pytest.fixture
def complete(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Complete:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = ["orders", "other", "sales"]
    herder.status.return_value = {"connector": {}, "tasks": [{"id": 0}, {"id": 1}]}
    herder.plugins.return_value = [{"class": "a.Source"}, {"class": "a.Sink"}]
    herder.loggers.return_value = {"root": {}, "penstock.runtime": {}}

    # A worker that does not answer within a second counts as none: ask again on a busy machine.
    def answers(line: str) -> list[str]:
        done = asked(line)
        assert done.stderr == ""
        return done.stdout.split()

    return answers


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("penstock pa", ["patch", "pause"]),
        ("penstock get con", ["connectors"]),
        ("penstock stop connector o", ["orders", "other"]),
        ("penstock describe connector ", ["orders", "other", "sales"]),
        ("penstock logs --connector s", ["sales"]),
        ("penstock restart task sales/", ["sales/0", "sales/1"]),
        ("penstock describe plugin a.S", ["a.Sink", "a.Source"]),
        ("penstock get logger p", ["penstock.runtime"]),
        ("penstock patch logger connector.o", ["connector.orders", "connector.other"]),
        ("penstock patch logger root -l D", ["DEBUG"]),
        ("penstock get connectors -o ", ["table", "json", "jsonl"]),
    ],
)
def test_what_is_offered(complete: Complete, line: str, offered: list[str]) -> None:
    assert sorted(eventually(lambda: complete(line))) == sorted(offered)


def test_the_worker_of_the_line_is_asked(
    complete: Complete, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_URL", "http://127.0.0.1:1")
    line = f"penstock stop connector --url {url} sa"
    assert eventually(lambda: complete(line)) == ["sales"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense", ""])
def test_without_a_worker_nothing_is_offered_or_printed(url: str) -> None:
    done = asked("penstock stop connector o", PENSTOCK_URL=url)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_a_worker_that_does_not_answer_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = asked("penstock stop connector o", PENSTOCK_URL=url)
    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_for_bash_works(complete: Complete, tmp_path: Path) -> None:
    program = tmp_path / "penstock"
    program.write_text(f'#!/bin/sh\nexec {" ".join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    script = subprocess.run(
        [*COMMAND, "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    ).stdout
    typed = (
        "COMP_WORDS=(penstock stop connector o); COMP_CWORD=3; "
        '_penstock_completion penstock; echo "${COMPREPLY[@]}"'
    )

    def offered() -> list[str]:
        return subprocess.run(
            ["bash", "--norc", "-c", f"{script}\n{typed}"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        ).stdout.split()

    assert eventually(offered) == ["orders", "other"]
