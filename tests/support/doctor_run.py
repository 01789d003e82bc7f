"""`penstock doctor` as its user runs it, on a machine that is fit but for what a test breaks."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from fake_jars import write_complete
from penstock.cli import main
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
        (found,) = [check for check in json.loads(self.out) if check["name"] == name]
        return dict(found)

    def status(self, name: str) -> str:
        """The status of the finding of this name."""
        return self.finding(name)["status"]

    def not_ok(self) -> list[str]:
        """The names of all findings that are not ok."""
        return [c["name"] for c in json.loads(self.out) if c["status"] != "ok"]


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

    def json(self, *options: str, alone: bool = False, **environment: str) -> Report:
        """Run it with -o json on this data folder and a free REST port, unless options say else."""
        return self.text("-o", "json", *options, alone=alone, **environment)

    def text(self, *options: str, alone: bool = False, **environment: str) -> Report:
        """Run it as people do: in a process of its own if the environment is about Python.

        ``alone`` asks for that, too.
        """
        arguments = ["doctor", "--data-dir", str(self.data), "--port", "0"]
        arguments += [*self._options, *options]
        alone = alone or any(name.startswith("PYTHON") for name in environment)
        run = _in_its_own_process if alone else _in_this_process
        report = run(arguments, {**self.environment, **environment})
        assert "Traceback" not in report.out + report.err
        return report


def _in_its_own_process(arguments: list[str], environment: dict[str, str]) -> Report:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env=environment,
    )
    return Report(done.returncode, done.stdout, done.stderr)


def _in_this_process(arguments: list[str], environment: dict[str, str]) -> Report:
    """Most of what a process of its own would do is to import what is here already."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(action="ignore"),  # as a program runs, not as pytest does
    ):
        try:
            main(arguments)
        except SystemExit as ended:
            out.seek(0)
            err.seek(0)
            return Report(int(ended.code or 0), out.read(), err.read())
