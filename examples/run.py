"""Runs the examples on one worker that they share, with a line for each. CI runs this.

    .venv/bin/python examples/run.py           all of them; or `make examples`
    .venv/bin/python examples/run.py 02 05     some

Each example also runs alone, and then starts a worker of its own. What an example prints is shown
when it fails, or always with -v.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.client import ConnectClient
from running_worker import RunningWorker, running_worker

HERE = Path(__file__).resolve().parent
SECONDS = 120


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 0 if all went well."""
    wanted = tuple(argument for argument in arguments if argument != "-v")
    chosen = [e for e in examples() if not wanted or e.name.startswith(wanted)]
    if not chosen:
        print(f"No example begins with {' or '.join(wanted)}.", file=sys.stderr)
        return 2
    began = time.monotonic()
    with running_worker(*plugins()) as worker:
        print(f"a worker for all                  {time.monotonic() - began:5.1f} s", flush=True)
        failed = [e for e in chosen if not passes(e, worker, verbose="-v" in arguments)]
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def examples() -> list[Path]:
    """Every example, in order."""
    return sorted(file for file in HERE.glob("[0-9][0-9]-*") if file.suffix in (".py", ".sh"))


def plugins() -> list[str]:
    """The folders that hold a plugin."""
    return sorted(file.parent.name for file in HERE.glob("*/pyproject.toml"))


def passes(example: Path, worker: RunningWorker, *, verbose: bool) -> bool:
    """Run one, and take its connectors away."""
    began = time.monotonic()
    code, printed = run(example, worker)
    verdict = "ok" if code == 0 else "FAILED"
    print(f"{example.stem:<32}  {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
    if code or verbose:
        print(printed, flush=True)
    tidy(worker)
    return code == 0


def run(example: Path, worker: RunningWorker) -> tuple[int, str]:
    """Its exit code and what it printed."""
    program = sys.executable if example.suffix == ".py" else "bash"
    try:
        ended = subprocess.run(
            [program, str(example)],
            env=worker.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode(errors="replace")
        return 1, f"{printed}\nIt did not end within {SECONDS} s."
    return ended.returncode, ended.stdout


def tidy(worker: RunningWorker) -> None:
    """Delete what an example has created."""
    with ConnectClient(worker.url) as client:
        for name in client.connectors():
            client.delete(name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
