"""A watched process ends with its parent, and not with Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from penstock.embedded.process import WatchedProcess
from processes import gone
from waiting import eventually


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[WatchedProcess]:
    process = WatchedProcess(["sleep", "600"], tmp_path / "log")
    yield process
    process.stop(timeout=1)


def test_exit_code_and_both_outputs(tmp_path: Path) -> None:
    process = WatchedProcess(["sh", "-c", "echo out; echo err >&2; exit 7"], tmp_path / "log")
    assert process.wait(10) == 7
    assert not process.alive()
    assert (tmp_path / "log").read_text() == "out\nerr\n"


def test_command_that_does_not_exist(tmp_path: Path) -> None:
    process = WatchedProcess(["/nowhere/java"], tmp_path / "log")
    assert process.wait(10) == 127
    assert "/nowhere/java: No such file" in (tmp_path / "log").read_text()


def test_stop_is_in_order_and_repeatable(sleeper: WatchedProcess) -> None:
    assert sleeper.alive()
    assert sleeper.wait(0.05) is None
    sleeper.stop(timeout=5)
    sleeper.stop(timeout=5)
    assert sleeper.wait(0) == 128 + signal.SIGTERM


def test_stop_kills_what_does_not_listen(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap '' TERM; touch {ready}; while :; do sleep 0.1; done"
    process = WatchedProcess(["sh", "-c", script], tmp_path / "log")
    eventually(ready.exists)
    process.stop(timeout=0.2)
    assert process.wait(0) == 128 + signal.SIGKILL


def test_runs_in_a_session_of_its_own(sleeper: WatchedProcess) -> None:
    assert os.getsid(sleeper.pid) == sleeper.pid
    watchdog = psutil.Process(sleeper.pid).ppid()
    assert os.getsid(watchdog) == watchdog


def test_watchdog_ignores_interrupts_and_heeds_terminate(sleeper: WatchedProcess) -> None:
    watchdog = psutil.Process(sleeper.pid).parent()
    assert watchdog is not None
    watchdog.send_signal(signal.SIGINT)
    assert sleeper.wait(0.2) is None
    watchdog.terminate()
    assert sleeper.wait(10) == 128 + signal.SIGTERM


def test_stop_works_without_the_watchdog(sleeper: WatchedProcess) -> None:
    watchdog = psutil.Process(sleeper.pid).parent()
    assert watchdog is not None
    watchdog.kill()
    eventually(lambda: gone(watchdog.pid))
    assert sleeper.alive()
    sleeper.stop(timeout=5)
    assert not sleeper.alive()


def test_ends_with_a_parent_that_is_killed_and_has_other_children(tmp_path: Path) -> None:
    program = (
        "import pathlib, subprocess, sys\n"
        "from penstock.embedded.process import WatchedProcess\n"
        f"watched = WatchedProcess(['sleep', '600'], pathlib.Path({str(tmp_path / 'log')!r}))\n"
        "other = subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL)\n"
        "print(watched.pid, other.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        watched, other = map(int, parent.stdout.readline().split())
        parent.kill()
    try:
        eventually(lambda: gone(watched))
        assert not gone(other)
    finally:
        os.kill(other, signal.SIGKILL)
