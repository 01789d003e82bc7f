"""``penstock up`` as a child process, and the processes of Spark below it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from penstock.client import ConnectClient, ConnectError
from penstock.embedded.process import WatchedProcess
from penstock.embedded.server_properties import render

END_SECONDS = 15.0
"""A worker that is told to end promises to do so in 10 s, whatever hangs."""
ANSWER_SECONDS = 10.0
DAEMON, JVM = "penstock.engine.daemon", "org.apache.spark.deploy.SparkSubmit"
KILLED, TERMINATED = 128 + 9, 128 + 15


class Worker:
    """One worker; started again after each end, on the same port and folder."""

    def __init__(self, name: str, folder: Path, port: int, properties: Mapping[str, str]) -> None:
        self.name, self.folder = name, folder
        self.client = ConnectClient(f"http://127.0.0.1:{port}", ANSWER_SECONDS)
        folder.mkdir(parents=True)
        config = folder / "worker.properties"
        config.write_text(render(properties), encoding="ascii")
        self.output, self.log = folder / "up.log", folder / "data" / "penstock.log"
        self._command = [
            *(sys.executable, "-m", "penstock", "up", "--data-dir", str(folder / "data")),
            *("--port", str(port), "--worker-config", str(config)),
        ]
        self._process: WatchedProcess | None = None
        self._lock = threading.RLock()

    def start(self) -> None:
        """Start it; that it becomes healthy is another matter."""
        with self._lock:
            self._process = WatchedProcess(self._command, self.output)

    def healthy(self) -> bool:
        """Whether it says so."""
        try:
            return bool(self.client.health().get("status") == "healthy")
        except ConnectError:
            return False

    def own_end(self) -> int | None:
        """The exit code of a worker that has ended without having been told to."""
        with self._lock:
            if self._process is None or self._process.alive():
                return None
            code = self._process.wait(5)
            self._process = None
            return -1 if code is None else code

    def kill(self) -> str:
        """SIGKILL, and wait until it is gone; what is wrong if it had ended before."""
        with self._lock:
            if (code := self.own_end()) is not None:
                return self.ended_text(code)
            if self._process is not None:
                process, self._process = self._process, None
                process.kill()
            return ""

    def ended_text(self, code: int) -> str:
        """What is wrong with a worker that has ended without having been told to."""
        return f"{self.name} ended by itself, with code {code}"

    def terminate(self) -> str:
        """SIGTERM, and wait until it has ended; what is wrong with how it did."""
        with self._lock:
            process, self._process = self._process, None
            if process is None:
                return ""
            began = time.monotonic()
            self._signal(process.pid, psutil.Process.terminate)
            code = process.wait(END_SECONDS)
            if code is None:
                process.kill()
                return f"{self.name} had not ended {END_SECONDS:.0f} s after SIGTERM"
            if code not in (0, TERMINATED):
                seconds = time.monotonic() - began
                return f"{self.name} ended with code {code}, {seconds:.1f} s after SIGTERM"
            return ""

    def freeze(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT so much later."""
        with self._lock:
            process = self._process
        if process is not None:
            frozen([_process(process.pid)], seconds)

    def close(self) -> None:
        """Make sure that it has ended."""
        self.client.close()
        with self._lock:
            if self._process is not None:
                self._signal(self._process.pid, psutil.Process.resume)
                self._process.stop(END_SECONDS)

    def python_workers(self) -> list[psutil.Process]:
        """The processes in which leases run: those that Spark's daemon has forked."""
        below = [each for each in self._below() if _runs(each, DAEMON)]
        daemons = {each.pid for each in below}
        return [each for each in below if _parent(each) in daemons]

    def jvms(self) -> list[psutil.Process]:
        """Spark's JVM, if it runs."""
        return [each for each in self._below() if _runs(each, JVM)]

    def _below(self) -> list[psutil.Process]:
        process = self._process
        try:
            return psutil.Process(process.pid).children(recursive=True) if process else []
        except psutil.NoSuchProcess:
            return []

    def _signal(self, pid: int, send: Callable[[psutil.Process], None]) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            send(psutil.Process(pid))


def frozen(processes: list[psutil.Process | None], seconds: float) -> None:
    """SIGSTOP all of them, and SIGCONT so much later."""
    there = [each for each in processes if each is not None]
    try:
        for each in there:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.suspend()
        time.sleep(seconds)
    finally:
        for each in there:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.resume()


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def _runs(process: psutil.Process, what: str) -> bool:
    try:
        return any(what in word for word in process.cmdline())
    except psutil.Error:
        return False


def _parent(process: psutil.Process) -> int | None:
    try:
        return int(process.ppid())
    except psutil.NoSuchProcess:
        return None
