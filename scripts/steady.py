"""Runs the integration tests several times, in random order and under load: which fail by chance?

``make steady TIMES=5 MINUTES=90``; ARGS go to pytest instead of the usual folders. It ends with a
list of what failed how often. A run that MINUTES cut short does not count, but its failures do.
"""

from __future__ import annotations

import argparse
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scripts.outcomes import Outcomes

SUITES = ["tests/contract", "tests/integration"]
USUAL = ["-m", "not heavy", "-n", "2", "--dist", "loadfile", "-q"]
TESTED = (0, 1)
"""What pytest ends with when it has run the tests, whatever they have shown."""
GRACE_SECONDS = 60.0
"""How long pytest has to stop its servers when its time is over."""
# Half of one core: enough to move every race, too little to make tests wait for nothing else.
LOAD = """
import os, time
parent = os.getppid()
while os.getppid() == parent:
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        pass
    time.sleep(0.05)
"""


@dataclass
class Tally:
    """What several runs have shown."""

    whole: int = 0
    """How many runs came to their end."""
    begun: int = 0
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often a test failed, and why."""

    def add(self, outcomes: Outcomes | None, status: int | None) -> None:
        """Take what a run has written, and its exit status, if it came to its end."""
        self.begun += 1
        self.whole += status is not None
        if outcomes is not None:
            self.failures.update(outcomes.failed.items())
        if status not in (None, *TESTED):
            self.failures["the run itself", f"exit {status}"] += 1

    def lines(self) -> list[str]:
        """The list at the end, the worst first."""
        rows = [
            f"  {times} of {self.begun}  {why:<8} {test}"
            for (test, why), times in self.failures.most_common()
        ]
        verdict = "failed by chance:" if rows else "no test failed"
        return [f"steady: {self.whole} whole runs of {self.begun}; {verdict}", *rows]


def main(arguments: list[str]) -> int:
    """Run as often as wanted and as there is time for; 0 if a run was whole and nothing failed."""
    options, pytest_arguments = parsed(arguments)
    deadline = time.monotonic() + 60 * options.minutes
    tally = Tally()
    with load(options.load):
        while tally.begun < options.times and time.monotonic() < deadline:
            seed = secrets.randbelow(2**32)
            print(f"\nsteady: run {tally.begun + 1} of {options.times}, seed {seed}", flush=True)
            tally.add(*run(pytest_arguments or [*USUAL, *SUITES], seed, deadline))
    print("\n".join(["", *tally.lines()]), flush=True)
    return 0 if tally.whole and not tally.failures else 1


def parsed(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and what is left for pytest."""
    parser = argparse.ArgumentParser(prog="make steady", description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how many runs")
    parser.add_argument("--minutes", type=float, default=60, help="when to stop at the latest")
    parser.add_argument("--load", type=int, default=2, help="processes of half a core beside them")
    return parser.parse_known_args(arguments)


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keep a bounded part of the machine busy for the length of a ``with`` block."""
    busy = [subprocess.Popen([sys.executable, "-c", LOAD]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def run(arguments: list[str], seed: int, deadline: float) -> tuple[Outcomes | None, int | None]:
    """One run: its outcomes, and its exit status unless the deadline cut it short."""
    with tempfile.TemporaryDirectory(prefix="penstock-outcomes-") as folder:
        file = Path(folder) / "outcomes.json"
        # An interrupt makes tests fail that are not to blame.
        until = f"--outcomes-until={time.time() + deadline - time.monotonic()}"
        plugin = ["-p", "scripts.outcomes", "--outcomes", str(file), until]
        command = [sys.executable, "-m", "pytest", *plugin, f"--randomly-seed={seed}", *arguments]
        status = ended_by(subprocess.Popen(command), deadline)
        return Outcomes.read(file), status


def ended_by(process: subprocess.Popen[bytes], deadline: float) -> int | None:
    """Its exit status; None if it had to be interrupted, which lets it stop its servers."""
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
