"""``python -m chaos``: break things at random moments, and check that nothing is lost."""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from chaos import planted, report
from chaos.contents import Contents
from chaos.ground import Ground
from chaos.plan import KIND_NAMES, rounds_of
from chaos.report import say
from chaos.rounds import Outcome, Round, recover

INTERRUPTED = 130
START_SECONDS = 180.0
ROUND_SECONDS = 40.0
"""What a round takes at most when all is well: none begins with less left."""


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if no round had a violation; else 1, and the folder is kept."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.planted is not None:
        return planted.main(options.planted)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="penstock-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        outcomes = run(folder, options)
    except KeyboardInterrupt:
        say(f"Stopped. What there is, is in {folder}")
        return INTERRUPTED
    report.console.print(report.table(options.seed, outcomes))
    return _verdict(folder, options, outcomes)


def run(folder: Path, options: argparse.Namespace) -> list[Outcome]:
    """All rounds, and a last full check at rest."""
    deadline = time.monotonic() + options.minutes * 60
    say(f"seed {options.seed}, {options.rounds} rounds, folder {folder}")
    with Ground(folder) as ground:
        contents = Contents(ground.load, ground.broker.bootstrap_servers, ground.alterations)
        outcomes = _rounds(ground, contents, options, deadline)
        report.keep(folder, options.seed, outcomes)
        if any(outcome.violations for outcome in outcomes):
            report.tails(ground.logs())
    return outcomes


def _rounds(
    ground: Ground, contents: Contents, options: argparse.Namespace, deadline: float
) -> list[Outcome]:
    outcomes = [_first(ground, contents)]
    plan = itertools.islice(rounds_of(options.seed, options.faults), options.rounds)
    for number, faults in enumerate(plan, 1):
        if deadline - time.monotonic() < ROUND_SECONDS:
            say(f"The time is over: {number - 1} of {options.rounds} rounds")
            break
        outcomes.append(Round(ground, contents, number, faults).run())
        report.tell(outcomes[-1])
        if outcomes[-1].violations and options.stop_at_first:
            return outcomes
    return [*outcomes, _last(ground, contents)]


def _first(ground: Ground, contents: Contents) -> Outcome:
    """Everything runs before the first fault, however slow the machine is at starting it."""
    outcome = Outcome("start", [])
    recover(ground, contents, outcome, within=START_SECONDS)
    report.tell(outcome)
    return outcome


def _last(ground: Ground, contents: Contents) -> Outcome:
    """Without load, everything must come out in the end; read from the beginning again."""
    outcome = Outcome("end", [])
    ground.load.rest()
    recover(ground, contents, outcome, newest=ground.load.written, anew=True)
    say(f"at rest: {ground.load.written} lines of each source")
    report.tell(outcome)
    return outcome


def _verdict(folder: Path, options: argparse.Namespace, outcomes: list[Outcome]) -> int:
    violations = sum(len(outcome.violations) for outcome in outcomes)
    if violations:
        say(f"{violations} violations; seed {options.seed}; everything is in {folder}", "red")
        return 1
    say(f"No violation in {len(outcomes) - 2} rounds; seed {options.seed}")
    if options.folder is None:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seed", type=int, help="repeats the faults of a run; default: a new one")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no round after so long")
    parser.add_argument(
        "--faults", nargs="+", choices=KIND_NAMES, default=KIND_NAMES, help="only these"
    )
    parser.add_argument("--folder", type=Path, help="where everything goes, and stays")
    parser.add_argument("--stop-at-first", action="store_true", help="end after a violation")
    parser.add_argument(
        "--planted",
        nargs="*",
        choices=planted.NAMES,
        help="plant bugs, all or these, and check that they are found",
    )
    options = parser.parse_args(arguments)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1_000_000)
    return options


if __name__ == "__main__":
    sys.exit(main())
