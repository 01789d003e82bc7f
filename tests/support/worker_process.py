"""``penstock up`` as a child process: for tests that kill, freeze or stop a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

from penstock.client import ConnectClient, ConnectError
from python_path import PLUGINS, with_path
from waiting import eventually

LAST_WORDS = 20_000


class WorkerProcess:
    """One run of ``penstock up``; may be started again after it ended."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int,
        bootstrap_servers: str | None = None,
        properties: Mapping[str, str] | None = None,
        options: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.client = ConnectClient(self.url)
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / "worker.properties"
        config.write_text("".join(f"{k}={v}\n" for k, v in (properties or {}).items()))
        self._output = folder / "up.log"
        self._command = [
            sys.executable,
            "-m",
            "penstock",
            "up",
            *("--data-dir", str(folder / "data")),
            *("--port", str(port)),
            *("--worker-config", str(config)),
            *(("--bootstrap-servers", bootstrap_servers) if bootstrap_servers else ()),
            *options,
        ]
        self._environment = {
            **os.environ,
            "PYTHONPATH": with_path(PLUGINS),
            "PENSTOCK_STATE_DIR": str(folder / "state"),
            "PYTHONFAULTHANDLER": "1",
            **(environment or {}),
        }

    def start(self, within: float = 120.0) -> None:
        """Start it and wait until it is healthy."""
        self.launch()
        self.wait_until_healthy(within)

    def launch(self) -> None:
        """Start it."""
        with self._output.open("ab") as output:
            self.process = subprocess.Popen(
                self._command, stdout=output, stderr=output, env=self._environment
            )

    def wait_until_healthy(self, within: float = 120.0) -> None:
        """Wait until it is healthy; AssertionError once it has ended."""
        eventually(self.healthy, within=within, what=f"a healthy worker at {self.url}", every=0.2)

    def healthy(self) -> bool:
        """Whether it answers that it is healthy; AssertionError once it has ended."""
        assert self.process is not None
        assert self.process.poll() is None, f"the worker ended:\n{self.output()}"
        return self.answers()

    def answers(self) -> bool:
        """Whether it answers that it is healthy."""
        try:
            return bool(self.client.health()["status"] == "healthy")
        except ConnectError:
            return False

    def output(self) -> str:
        """What it has printed."""
        return self._output.read_text() if self._output.exists() else ""

    def log(self) -> str:
        """What it has logged."""
        file = self.folder / "data" / "penstock.log"
        return file.read_text() if file.exists() else ""

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the worker, and to it alone."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill_tree(self) -> None:
        """SIGKILL, for the processes that it started as well: no lease lives on for a moment."""
        assert self.process is not None
        below = psutil.Process(self.process.pid).children(recursive=True)
        self.kill()
        for process in below:
            if process.is_running():
                process.kill()
        psutil.wait_procs(below, 20)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.send(signal.SIGKILL)
        assert self.process is not None
        self.process.wait(20)

    def stop(self, within: float = 20.0) -> int:
        """SIGTERM, and wait; its exit code. AssertionError with what its threads do if it stays."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # which the fault handler tells of
            self.process.wait(20)
            told = f"{self.output()}\n{self.log()[-LAST_WORDS:]}"
            raise AssertionError(f"it did not end in {within:.0f} s:\n{told}") from None

    def close(self) -> None:
        """Make sure that it has ended."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(20)
