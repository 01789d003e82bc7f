"""The command when a package is missing without which no command works; only Python is needed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from penstock.cli.doctor.findings import Finding, Status, failed
from penstock.cli.doctor.python import python_findings
from penstock.cli.doctor.report import as_objects, closing, lines, marks_for


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Say what is missing instead of whatever was asked for; exit code 1."""
    given = sys.argv[1:] if args is None else args
    findings = _findings()
    if "doctor" in given and "json" in given:
        sys.stdout.write(json.dumps(as_objects(findings), indent=2) + "\n")
    else:
        _print(findings, sys.stdout if "doctor" in given else sys.stderr)
    sys.exit(1)


def _findings() -> list[Finding]:
    found = python_findings()
    if any(finding.status is Status.FAILED for finding in found):
        return found
    advice = "Set Penstock up again: make clean setup in its source folder"
    return [*found, failed("packages", "a package that they need is missing", advice)]


def _print(findings: list[Finding], out: TextIO) -> None:
    marks = marks_for(out.encoding)
    text = [line for finding in findings for line in lines(finding, marks[finding.status])]
    out.write("\n".join([*text, "", closing(findings)]) + "\n")
