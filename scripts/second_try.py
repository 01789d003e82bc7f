"""Runs pytest as CI does: a test whose wait ran out gets one second try, alone.

``python -m scripts.second_try <arguments of pytest>``. A test that fails in any other way gets
none, and if more than a few waits ran out, no test does: then it is not chance. Tests that passed
only on their second try are written to the file that UNSTEADY names, one on a line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scripts.outcomes import WAIT, Outcomes

MOST = 5
"""How many tests get a second try in one run."""
FAILED = 1
"""What pytest ends with when tests have failed, and nothing else is wrong."""

RunPytest = Callable[[list[str]], tuple[int, Outcomes | None]]
"""Runs pytest with these arguments; its exit status and what it wrote down."""


def main(arguments: list[str], run: RunPytest | None = None) -> int:
    """Run the tests; 0 if each passed at once or alone."""
    run, began = run or run_pytest, time.monotonic()
    status, outcomes = run(arguments)
    if status != FAILED or outcomes is None or not may_try_again(outcomes):
        return status
    unsteady = [test for test in outcomes.failed if passes_alone(test, run)]
    note(unsteady)
    print(closing_line(outcomes, len(unsteady), time.monotonic() - began), flush=True)
    return 0 if len(unsteady) == len(outcomes.failed) else status


def may_try_again(outcomes: Outcomes) -> bool:
    """Whether nothing but waits ran out, and not many."""
    return 0 < len(outcomes.failed) <= MOST and set(outcomes.failed.values()) == {WAIT}


def passes_alone(test: str, run: RunPytest) -> bool:
    """The second try: one process, and nothing beside it."""
    print(f"\nsecond try, alone, because a wait ran out: {test}", flush=True)
    status, _ = run([test])
    return status == 0


def note(unsteady: list[str]) -> None:
    """Add the tests to the list that CI ends with."""
    if unsteady and (file := os.environ.get("UNSTEADY")):
        with Path(file).open("a") as out:
            out.writelines(f"{test}\n" for test in unsteady)


def closing_line(outcomes: Outcomes, rescued: int, seconds: float) -> str:
    """The whole run as pytest would have closed it, second tries counted."""
    counts = dict(outcomes.counts)
    counts["passed"] = counts.get("passed", 0) + rescued
    counts["failed"] = counts.get("failed", 0) - rescued
    kinds = [kind for kind in ("failed", "passed", "skipped") if counts.get(kind)]
    told = [f"{counts[kind]} {kind}" for kind in kinds]
    return f"==== {', '.join(told)} in {seconds:.2f}s ({rescued} on the second try) ===="


def run_pytest(arguments: list[str]) -> tuple[int, Outcomes | None]:
    """Run pytest in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="penstock-outcomes-") as folder:
        file = Path(folder) / "outcomes.json"
        plugin = ["-p", "scripts.outcomes", "--outcomes", str(file)]
        command = [sys.executable, "-m", "pytest", *plugin, *arguments]
        status = subprocess.run(command, check=False).returncode
        return status, Outcomes.read(file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
