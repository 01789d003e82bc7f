"""A real Kafka broker as a child process of this one."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from penstock.embedded import kafka_log
from penstock.embedded.data_folder import (
    claim,
    log_dir,
    metadata_bytes,
    note_failed_start,
    was_killed,
)
from penstock.embedded.errors import BrokerStartFailed, EmbeddedError
from penstock.embedded.ivy import Progress
from penstock.embedded.jars import Jars
from penstock.embedded.java import Java
from penstock.embedded.kafka_command import controller_command, format_command, server_command
from penstock.embedded.locks import POLL_SECONDS, FileLock
from penstock.embedded.ports import HOST, Ports, choose_ports, free_port
from penstock.embedded.process import WatchedProcess
from penstock.embedded.readiness import Probe
from penstock.embedded.server_properties import (
    SESSION,
    controller_properties,
    render,
    server_properties,
)


class EmbeddedBroker:
    """A single-node KRaft broker on 127.0.0.1 with a data folder of its own.

    Call order: `start`, then anything, then `stop` (or `kill`); then `start` again, if wanted,
    on the same data and ports. As a context manager it starts and stops itself. It ends with
    this Python process, even when that is killed. What it acknowledged outlives a kill of it.
    `alive`, `pid` and `bootstrap_servers` may be used from any thread, the rest from one.
    """

    def __init__(
        self,
        data_dir: Path,
        java: Java,
        jars: Jars,
        port: int | None = None,
        extra: Mapping[str, str] = {},
    ) -> None:
        self.data_dir = data_dir.absolute()
        self.log = self.data_dir / "kafka.log"
        self._java, self._jars = java, jars
        self._port, self._extra = port, dict(extra)
        self._ports: Ports | None = None
        self._lock: FileLock | None = None
        self._process: WatchedProcess | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients; known from the first start on."""
        if self._ports is None:
            raise EmbeddedError("The broker has no address yet: call start() first.")
        return f"{HOST}:{self._ports.broker}"

    @property
    def pid(self) -> int:
        """The pid of the broker's Java, of the latest start."""
        if self._process is None:
            raise EmbeddedError("The broker has no process yet: call start() first.")
        return self._process.pid

    def alive(self) -> bool:
        """Return whether the broker's Java runs."""
        return self._process is not None and self._process.alive()

    def start(self, timeout: float = 60, progress: Progress | None = None) -> None:
        """Start the broker and return once it answers clients.

        Raises DataFolderInUse, PortInUse, or BrokerStartFailed (Java ended, or no answer within
        `timeout` seconds); nothing is left running then.
        """
        if self.alive():
            raise EmbeddedError(
                f"The broker on {self.data_dir} is already running: call stop() first."
            )
        self.stop()
        self._lock = lock = claim(self.data_dir)
        try:
            self._start(lock, time.monotonic() + timeout, progress or (lambda _: None))
        except BaseException:
            self.kill()
            note_failed_start(self.data_dir)
            raise

    def stop(self, timeout: float = 8) -> None:
        """End the broker in order, with SIGKILL after `timeout` seconds. Safe to call again."""
        if self._lock is not None:
            self._lock.tell(pid=os.getpid(), ending=True)
        try:
            if self._process is not None:
                self._process.stop(timeout)
        finally:
            self._release()

    def kill(self) -> None:
        """End the broker's Java with SIGKILL, as a crash would, and wait until it is gone."""
        try:
            if self._process is not None:
                self._process.kill()
        finally:
            self._release()

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _start(self, lock: FileLock, deadline: float, progress: Progress) -> None:
        self._ports = choose_ports(self.data_dir, self._port)
        log_start = kafka_log.rotate(self.log)
        if SESSION not in self._extra and was_killed(self.data_dir):
            self._recover(lock, deadline, log_start)
        properties = server_properties(log_dir(self.data_dir), self._ports, self._extra)
        settings = self._write(properties)
        if not (log_dir(self.data_dir) / "meta.properties").exists():
            progress(f"preparing the data folder {self.data_dir}")
            self._format(settings, deadline, log_start)
        progress(f"starting Kafka on {self.bootstrap_servers}")
        self._run(lock, server_command(self._java, self._jars, settings))
        self._wait_until_ready(self.bootstrap_servers, deadline, log_start)
        progress(f"Kafka is ready on {self.bootstrap_servers}")

    def _recover(self, lock: FileLock, deadline: float, log_start: int) -> None:
        """Run the controller alone, until it has given up the broker that was killed.

        Before that it would not let the next one in. Nor may that run meanwhile: it would lead its
        partitions, begin to finish transactions, and lose its partitions in the middle, which Kafka
        4.3 takes for a reason not to write into them how the transactions ended: they would hang.
        """
        settings = self._write(controller_properties(log_dir(self.data_dir), free_port()))
        self._run(lock, controller_command(self._java, self._jars, settings))
        while not kafka_log.is_fenced(self.log, log_start):
            self._check_starting(deadline, log_start)
            time.sleep(POLL_SECONDS)
        # It says so before it writes so. What it writes is in order: after more, that is there too.
        before = metadata_bytes(self.data_dir)
        while metadata_bytes(self.data_dir) <= before:
            self._check_starting(deadline, log_start)
            time.sleep(POLL_SECONDS)
        assert self._process is not None  # noqa: S101 (it runs)
        self._process.stop(max(1.0, deadline - time.monotonic()))

    def _run(self, lock: FileLock, command: list[str]) -> None:
        self._process = WatchedProcess(command, self.log)
        lock.tell(pid=os.getpid(), java=self.pid)

    def _write(self, properties: Mapping[str, str]) -> Path:
        settings = self.data_dir / "server.properties"
        settings.write_text(render(properties), encoding="ascii")
        return settings

    def _format(self, settings: Path, deadline: float, log_start: int) -> None:
        self._process = WatchedProcess(format_command(self._java, self._jars, settings), self.log)
        if self._process.wait(max(0.0, deadline - time.monotonic())) != 0:
            raise self._failed("could not prepare its data folder", log_start)

    def _wait_until_ready(self, address: str, deadline: float, log_start: int) -> None:
        probe = Probe(address)
        while not probe.answered():
            self._check_starting(deadline, log_start)

    def _check_starting(self, deadline: float, log_start: int) -> None:
        if not self.alive():
            raise self._failed("ended while starting", log_start)
        if time.monotonic() > deadline:
            raise self._failed("did not answer in time", log_start)

    def _failed(self, what: str, log_start: int) -> BrokerStartFailed:
        quoted = kafka_log.quote(self.log, log_start) or "(its log is empty)"
        return BrokerStartFailed(f"Kafka {what}. Its log says:\n{quoted}\nAll of it: {self.log}")
