"""What is going on, while something takes its time: moving on a terminal, else plain lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from penstock.cli.output import console

LINE_SECONDS = 2.0


@contextmanager
def starting(title: str) -> Iterator[Callable[[str], None]]:
    """A function to tell steps to: one moving line on a terminal, else a line for each."""
    out = console()
    if not out.is_terminal:
        yield lambda step: out.print(f"{title}: {step}", markup=False, soft_wrap=True)
        return
    with out.status(title) as line:
        yield lambda step: line.update(f"{title}: {escape(step)}")


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function to tell counts to, on the way to ``total``."""
    out = console()
    if not out.is_terminal:
        yield _lines(out, title, total)
        return
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=out) as progress:
        task = progress.add_task(title, total=total)
        yield lambda count: progress.update(task, completed=count)


def _lines(out: Console, title: str, total: int) -> Callable[[int], None]:
    printed = {"at": 0.0, "count": -1}

    def tell(count: int) -> None:
        now, changed = time.monotonic(), count != printed["count"]
        if changed and (count >= total or now - printed["at"] > LINE_SECONDS):
            out.print(f"  {title}: {count:,} of {total:,}", markup=False)
            printed.update(at=now, count=count)

    return tell
