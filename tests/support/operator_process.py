"""``penstock operator`` as a child process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

from waiting import eventually


class OperatorProcess:
    """One run; may be started again after it ended."""

    def __init__(
        self,
        folder: Path,
        kubeconfig: Path,
        *options: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "operator.log"
        self._command = [sys.executable, "-m", "penstock", "operator", *options]
        self._environment = {
            **os.environ,
            "KUBECONFIG": str(kubeconfig),
            "PYTHONFAULTHANDLER": "1",
            **(environment or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, *, leading: bool = True) -> None:
        """Start it; wait until it watches, or (not ``leading``) until it waits to lead."""
        self._log.write_bytes(b"")
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment
            )
        words = "Watching" if leading else "Waiting to lead"
        eventually(lambda: words in self.output(), within=60, what=words)

    def output(self) -> str:
        """What it has printed; AssertionError once it has ended."""
        text = self._log.read_text()
        assert self.process is not None
        assert self.process.poll() is None, f"the operator ended:\n{text}"
        return text

    def get(self, path: str) -> httpx.Response:
        """Ask its health port."""
        found = re.search(r"http://127\.0\.0\.1:\d+", self.output())
        assert found
        return httpx.get(found[0] + path, trust_env=False)

    def counted(self, name: str, **labels: str) -> int:
        """The sum of a counter over all series with these labels."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        lines = (line for line in self.get("/metrics").text.splitlines() if line.startswith(name))
        return sum(int(li.split()[-1]) for li in lines if all(word in li for word in wanted))

    def kube_writes(self) -> int:
        """How often it has asked the API server to change something."""
        calls = "penstock_operator_kube_calls_total"
        return sum(self.counted(calls, verb=verb) for verb in ("POST", "PUT", "PATCH", "DELETE"))

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(20)

    def stop(self) -> int:
        """SIGTERM, and wait; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def close(self) -> None:
        """Make sure that it has ended."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)
