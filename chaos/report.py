"""What a run tells: a line for each round, a table, and the logs' ends where something is wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chaos.rounds import Outcome

TAIL_LINES = 25
REPORT = "report.json"

console = Console(highlight=False, soft_wrap=True)


def say(message: str, style: str = "") -> None:
    """A line with the time of day."""
    console.print(f"{time.strftime('%H:%M:%S')}  {message}", markup=False, style=style or None)


def tell(outcome: Outcome) -> None:
    """A round that is over."""
    faults = " + ".join(str(fault) for fault in outcome.faults) or "no faults"
    took = f"faults {outcome.fault_seconds:.1f} s, recovered in {outcome.recovery_seconds:.1f} s"
    say(f"{outcome.name}: {faults}; {took}")
    for note in outcome.notes:
        say(f"  {note}", "yellow")
    for violation in outcome.violations:
        say(f"  VIOLATION {violation}", "red")


def table(seed: int, outcomes: Sequence[Outcome]) -> Table:
    """All rounds."""
    shown = Table("", "faults", "lasted s", "recovered s", "violations", title=f"seed {seed}")
    for each in outcomes:
        shown.add_row(
            each.name,
            "\n".join(f"+{fault.delay:.1f} s {fault}" for fault in each.faults),
            f"{each.fault_seconds:.1f}",
            f"{each.recovery_seconds:.1f}",
            str(len(each.violations)),
        )
    return shown


def tails(logs: Sequence[Path]) -> None:
    """The end of every log."""
    for log in logs:
        if log.exists():
            console.rule(str(log))
            lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
            console.print("\n".join(lines), markup=False)


def keep(folder: Path, seed: int, outcomes: Sequence[Outcome]) -> None:
    """Write what happened beside what was left."""
    told = {"seed": seed, "rounds": [asdict(outcome) for outcome in outcomes]}
    (folder / REPORT).write_text(json.dumps(told, indent=1))
