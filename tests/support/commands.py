"""The ``penstock`` command against a broker, in this process or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.cli import main


@dataclass(frozen=True)
class Outcome:
    """How a command has ended."""

    code: int
    raw: bytes
    err: str

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def objects(self) -> list[Any]:
        """One for each line."""
        return [json.loads(line) for line in self.lines]


class Commands:
    """Runs commands that find their brokers in the environment."""

    def __init__(
        self,
        bootstrap_servers: str,
        monkeypatch: pytest.MonkeyPatch,
        captured: pytest.CaptureFixture[bytes],
    ) -> None:
        monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", bootstrap_servers)
        self._monkeypatch = monkeypatch
        self._captured = captured

    def __call__(self, *args: str, stdin: bytes = b"") -> Outcome:
        """Run one in this process."""
        source = io.TextIOWrapper(io.BytesIO(stdin))
        self._monkeypatch.setattr(sys, "stdin", source)
        self._captured.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(args)
        raw, err = self._captured.readouterr()
        assert b"Traceback" not in err, err.decode()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 0, raw, err.decode())

    def done(self, *args: str, stdin: bytes = b"") -> Outcome:
        """Run one that must not fail."""
        outcome = self(*args, stdin=stdin)
        assert outcome.code == 0, outcome.err
        return outcome

    def start(self, *args: str, **options: Any) -> subprocess.Popen[bytes]:
        """Run one in a process of its own, with pipes."""
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [sys.executable, "-m", "penstock", *args], env=dict(os.environ), **(pipes | options)
        )
