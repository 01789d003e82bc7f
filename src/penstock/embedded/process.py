"""A child process that ends with this one, however this one ends."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import psutil

from penstock.embedded.errors import EmbeddedError

WATCHDOG = Path(__file__).with_name("watchdog.py")
POLL_SECONDS = 0.02
KILL_SECONDS = 10.0


class WatchedProcess:
    """A running command whose output goes to the end of `log`.

    It starts on construction, in a session of its own, so Ctrl-C in a terminal does not reach
    it. A watchdog ends it when this Python process dies. A process forked from this one without
    exec keeps it alive too. `alive` may be called from any thread, the rest from one at a time.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        with log.open("ab") as output:
            self._watchdog = subprocess.Popen(
                [sys.executable, "-S", "-E", "-P", str(WATCHDOG), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        self.pid = self._told_pid()
        self._process = _process(self.pid)

    def alive(self) -> bool:
        """Return whether the command itself (not only its watchdog) runs."""
        try:
            return (
                self._process is not None
                and self._process.is_running()
                and self._process.status() != psutil.STATUS_ZOMBIE
            )
        except psutil.NoSuchProcess:
            return False

    def wait(self, timeout: float) -> int | None:
        """Return the exit code (128 + N for signal N), or None if it still runs at `timeout`."""
        deadline = time.monotonic() + timeout
        try:
            # The watchdog goes only after the last thread of the command, and with it its locks.
            code = self._watchdog.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        while self.alive():  # Someone killed the watchdog alone.
            if time.monotonic() > deadline:
                return None
            time.sleep(POLL_SECONDS)
        self._close()
        return code

    def stop(self, timeout: float) -> None:
        """End the command: SIGTERM, then SIGKILL after `timeout` seconds. Safe to call again."""
        self._signal(kill=False)
        if self.wait(timeout) is None:
            self.kill()

    def kill(self) -> None:
        """End the command with SIGKILL and wait until it is gone."""
        self._signal(kill=True)
        if self.wait(KILL_SECONDS) is None:
            raise EmbeddedError(f"Process {self.pid} does not end. End it with: kill -9 {self.pid}")

    def _told_pid(self) -> int:
        with cast(IO[bytes], self._watchdog.stdout) as report:
            told = report.readline()
        if not told.strip().isdigit():
            self._close()
            raise EmbeddedError(
                f"The watchdog process ended at once (code {self._watchdog.wait()}). "
                f"Check that {sys.executable} starts and that the machine has memory left."
            )
        return int(told)

    def _signal(self, kill: bool) -> None:
        try:
            if self._process is not None:
                self._process.kill() if kill else self._process.terminate()
        except psutil.NoSuchProcess:
            pass

    def _close(self) -> None:
        cast(IO[bytes], self._watchdog.stdin).close()


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None
