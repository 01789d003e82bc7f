"""A real PostgreSQL 18 as a child process of this one, for tests and demonstrations."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from penstock.embedded.errors import EmbeddedError, PostgresStartFailed
from penstock.embedded.ports import HOST, free_port
from penstock.embedded.postgres_binaries import as_postgres, hand_over, program
from penstock.embedded.process import WatchedProcess

USER = "penstock"
DATABASE = "postgres"
POLL_SECONDS = 0.05
QUOTED_LINES = 10


class EmbeddedPostgres:
    """A server on 127.0.0.1 with a data folder, a user and a random password of its own.

    Call order: `start`, then anything, then `stop` (or `kill`); then `start` again, if wanted, on
    the same data, port and password. It ends with this Python process, even when that is killed.
    Where this process is root's, the folders above `data_dir` must be open to others, since
    PostgreSQL then runs as another user.
    """

    def __init__(self, data_dir: Path, settings: Mapping[str, str] = {}) -> None:
        self.data_dir = data_dir.absolute()
        self.log = self.data_dir / "postgres.log"
        self.port = free_port()
        self._settings = dict(settings)
        self._cluster = self.data_dir / "cluster"
        self._process: WatchedProcess | None = None

    @property
    def password(self) -> str:
        """The password of the user `penstock`; known from the first start on."""
        return (self.data_dir / "password").read_text()

    @property
    def jdbc_url(self) -> str:
        """The address as a connector's configuration has it, without user and password."""
        return f"jdbc:postgresql://{HOST}:{self.port}/{DATABASE}"

    @property
    def uri(self) -> str:
        """The address for clients of libpq, with user and password."""
        return f"postgresql://{USER}:{self.password}@{HOST}:{self.port}/{DATABASE}"

    def alive(self) -> bool:
        """Return whether the server runs."""
        return self._process is not None and self._process.alive()

    def start(self, timeout: float = 60) -> None:
        """Start the server and return once it answers; PostgresStartFailed quotes its log."""
        if self.alive():
            raise EmbeddedError(f"PostgreSQL in {self.data_dir} is already running.")
        deadline = time.monotonic() + timeout
        if not (self._cluster / "PG_VERSION").exists():
            self._initialise()
        while True:
            self._process = WatchedProcess(as_postgres(self._command()), self.log)
            if self._answers(deadline):
                return
            if time.monotonic() > deadline:
                self.kill()
                raise self._failed("did not answer in time")

    def stop(self, timeout: float = 8) -> None:
        """End the server in order, its sessions too. Safe to call again."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            # SIGTERM, which `stop` sends, would wait until all sessions have ended.
            os.kill(self._process.pid, signal.SIGINT)
        if self._process.wait(timeout) is None:
            self._process.kill()

    def kill(self) -> None:
        """End the server with SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()

    def __enter__(self) -> EmbeddedPostgres:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _initialise(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        password = self.data_dir / "password"
        password.touch(mode=0o600)
        password.write_text(secrets.token_urlsafe(18))
        hand_over(self.data_dir, password)
        command = [program("initdb"), "-D", str(self._cluster), "-U", USER]
        command += ["--auth=scram-sha-256", f"--pwfile={password}", "--no-sync", "--encoding=UTF8"]
        done = subprocess.run(
            as_postgres([*command, "--locale=C.UTF-8"]), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise PostgresStartFailed(
                f"PostgreSQL could not prepare its data folder {self.data_dir}:\n"
                f"{done.stderr}{_advice()}"
            )

    def _command(self) -> list[str]:
        settings = {"listen_addresses": HOST, "unix_socket_directories": "", **self._settings}
        options = [part for k, v in settings.items() for part in ("-c", f"{k}={v}")]
        return [program("postgres"), "-D", str(self._cluster), "-p", str(self.port), *options]

    def _answers(self, deadline: float) -> bool:
        """False once it has ended, since a killed one's sessions may hold the folder a moment."""
        ready = [program("pg_isready"), "-q", "-h", HOST, "-p", str(self.port), "-d", DATABASE]
        while self.alive() and time.monotonic() < deadline:
            if subprocess.run(ready, check=False).returncode == 0:
                return True
            time.sleep(POLL_SECONDS)
        time.sleep(POLL_SECONDS)
        return False

    def _failed(self, what: str) -> PostgresStartFailed:
        lines = self.log.read_text(errors="replace").splitlines()[-QUOTED_LINES:]
        return PostgresStartFailed(f"PostgreSQL {what}. Its log says:\n" + "\n".join(lines))


def _advice() -> str:
    """Root's PostgreSQL runs as another user, who must be able to reach the folder."""
    if os.geteuid() != 0:
        return ""
    return (
        "Started by root, it runs as another user: the folders above must let others pass "
        "(chmod o+x). For `penstock demo`, TMPDIR may name another place."
    )
