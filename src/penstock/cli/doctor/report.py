"""Findings as lines for a person and as JSON for a program; needs nothing but Python."""

from __future__ import annotations

from typing import Any

from penstock.cli.doctor.findings import Finding, Status, worst

MARKS = {Status.OK: "✓", Status.WARNING: "!", Status.FAILED: "✗"}
ASCII_MARKS = {Status.OK: "ok", Status.WARNING: "!!", Status.FAILED: "XX"}
NAME_WIDTH = 13


def marks_for(encoding: str | None) -> dict[Status, str]:
    """Marks that an output of this encoding can print."""
    try:
        "".join(MARKS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return MARKS


def lines(finding: Finding, mark: str) -> list[str]:
    """A finding, with what to do below it."""
    indent = " " * (len(mark) + 1)
    found, *more = finding.found.splitlines() or [""]
    first = f"{mark} {finding.name:<{NAME_WIDTH}} {found}"
    margin = indent + " " * (NAME_WIDTH + 1)
    advice = [f"-> {line}" for line in finding.advice.splitlines()]
    return [first, *(margin + line.strip() for line in [*more, *advice])]


def closing(findings: list[Finding], url: str = "") -> str:
    """The last line: what to type next, or how much there is to fix."""
    broken = sum(finding.status is Status.FAILED for finding in findings)
    if broken:
        things = "One thing" if broken == 1 else f"{broken} things"
        return f"{things} to fix, marked above; then run `penstock doctor` again."
    if url:
        return f"Penstock runs at {url}. Next: `penstock get connectors`."
    return "Ready. Next: `penstock up`, or `penstock demo` to see it work."


def as_objects(findings: list[Finding]) -> list[dict[str, Any]]:
    """The same for a program."""
    return [
        {"name": f.name, "status": str(f.status), "found": f.found, "advice": f.advice}
        for f in findings
    ]


def exit_code(findings: list[Finding]) -> int:
    """1 if anything failed."""
    return int(worst(findings) is Status.FAILED)
