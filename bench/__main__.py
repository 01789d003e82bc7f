"""``python -m bench [ROW ...]``: measure rows, all of them unless some are named."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench import report, store
from bench.bed import Bed
from bench.bounds import BOUNDS
from bench.machine import machine_facts
from bench.row import Row
from bench.rows import ROWS
from bench.scale import Scale
from penstock.embedded import find_java

PUBLISHED = Path("docs/bench.md")
LIST, PAGE = "list", "page"
USUAL = Scale()
INTERRUPTED = 130
DESCRIPTION = (
    "Measures rows, all of them unless some are named. `list` names them; `page` measures nothing "
    f"and writes the results that are kept into {PUBLISHED}, where other rows stay as they are."
)

console = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """Return 0 when every row was measured, whether its target was met or not."""
    options = _options()
    if LIST in options.rows:
        for row in ROWS.values():
            console.print(f"{row.name:<20} {row.title}")
        return 0
    if PAGE in options.rows:
        return _publish(options.out)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _run([ROWS[name] for name in options.rows] or list(ROWS.values()), options)
    except KeyboardInterrupt:
        console.print("Stopped; the results of finished rows are kept.")
        return INTERRUPTED


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=DESCRIPTION)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join([*ROWS, LIST, PAGE]))
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="folder of results")
    parser.add_argument("--rounds", type=int, default=USUAL.rounds)
    parser.add_argument(
        "--scale", type=float, default=USUAL.factor, help="0.05: just try, results go to out/trial"
    )
    options = parser.parse_args()
    if unknown := set(options.rows) - {*ROWS, LIST, PAGE}:
        parser.error(f"there is no row {', '.join(sorted(unknown))}; `list` names them")
    return options


def _publish(out: Path) -> int:
    """Write the results that are kept into the page, with what bounds them as it is now."""
    stored = store.read(out, machine_facts(find_java()))
    if not stored["rows"]:
        console.print(f"There are no results of this machine in {out}. Measure first: make bench")
        return 1
    PUBLISHED.parent.mkdir(exist_ok=True)
    page = PUBLISHED.read_text() if PUBLISHED.exists() else ""
    report.replace(PUBLISHED, report.updated(page, stored, BOUNDS, ROWS))
    console.print(f"Wrote {PUBLISHED}")
    return 0


def _run(rows: Sequence[Row], options: argparse.Namespace) -> int:
    scale = Scale.of(options.scale, options.rounds)
    out = options.out if scale == USUAL else options.out / "trial"
    with (
        tempfile.TemporaryDirectory(prefix="penstock-bench-", ignore_cleanup_errors=True) as folder,
        Bed(Path(folder), scale, _say) as bed,
    ):
        failed = [row.name for row in rows if not _measure(bed, row, out)]
    if failed:
        console.print(f"Not measured: {', '.join(failed)}", style="red")
    return 1 if failed else 0


def _measure(bed: Bed, row: Row, out: Path) -> bool:
    console.rule(f"{row.name}: {row.title}")
    began = time.monotonic()
    try:
        result = row.measure(bed)
    except Exception as error:  # noqa: BLE001 - one row that fails leaves the others their turn
        console.print(f"{row.name}: {type(error).__name__}: {error}", style="red", markup=False)
        return False
    stored = store.with_row(store.read(out, machine_facts(bed.java)), row, result, list(ROWS))
    report.write(out, stored, report.markdown(stored, BOUNDS))
    console.print(report.table(row.name, stored["rows"][row.name]))
    console.print(f"{row.name} took {time.monotonic() - began:.0f} s; results in {out}")
    return True


def _say(message: str) -> None:
    console.print(f"  {time.strftime('%H:%M:%S')}  {message}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
