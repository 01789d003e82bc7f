"""`penstock doctor` as its user runs it, on a machine that is fit but for what a test breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from fake_jars import write_complete
from penstock.embedded import jars_folder

UNWANTED = ("PENSTOCK_", "JAVA_HOME", "FORCE_COLOR", "CLICOLOR", "PYTHONIOENCODING")


@dataclass(frozen=True)
class Report:
    """What was printed."""

    code: int
    out: str
    err: str

    def finding(self, name: str) -> dict[str, str]:
        """The finding of this name."""
        (found,) = [check for check in json.loads(self.out)["checks"] if check["name"] == name]
        return dict(found)

    def status(self, name: str) -> str:
        """The status of the finding of this name."""
        return self.finding(name)["status"]

    def not_ok(self) -> list[str]:
        """The names of all findings that are not ok."""
        return [c["name"] for c in json.loads(self.out)["checks"] if c["status"] != "ok"]


class DoctorRun:
    """Runs the command with a home of its own, a complete cache and no port taken."""

    def __init__(self, folder: Path, *options: str) -> None:
        """``options`` go with every run."""
        self._options = options
        self.data, self.cache = folder / "data", folder / "cache"
        write_complete(jars_folder(self.cache))
        clean = {k: v for k, v in os.environ.items() if not k.startswith(UNWANTED)}
        self.environment = {
            **clean,
            "HOME": str(folder),
            "PENSTOCK_CACHE_DIR": str(self.cache),
            "PENSTOCK_STATE_DIR": str(folder / "state"),
        }

    def json(self, *options: str, **environment: str) -> Report:
        """Run it with --json on this data folder and a free REST port, unless options say else."""
        return self.text("--json", *options, **environment)

    def text(self, *options: str, **environment: str) -> Report:
        """Run it as people do."""
        defaults = ("--data-dir", str(self.data), "--port", "0", *self._options)
        done = subprocess.run(
            [sys.executable, "-m", "penstock", "doctor", *defaults, *options],
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
            env={**self.environment, **environment},
        )
        assert "Traceback" not in done.stdout + done.stderr
        return Report(done.returncode, done.stdout, done.stderr)
