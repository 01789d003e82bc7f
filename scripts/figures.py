"""Figures of a source tree, for docs/decisions.md: `python -m scripts.figures [FOLDER]`.

Of all of it and of some rooms: how many modules, how many of them with less than 40 lines, and
lines in all; the median, the 90th percentile and the maximum of the lines of modules and of
functions; and how many of the public classes, functions and methods have a docstring.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("", "runtime", "cli", "consumers")
SHORT = 40
SOURCE = Path(__file__).parents[1] / "src" / "penstock"
HEADINGS = (
    f"modules (<{SHORT} lines)",
    "lines",
    "module median/p90/max",
    "function median/p90/max",
    "public docstrings",
)
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Figures:
    """Of some modules."""

    modules: list[int]
    functions: list[int]
    documented: list[bool]

    def row(self) -> list[str]:
        """As cells of the table."""
        short = sum(lines < SHORT for lines in self.modules)
        share = 100 * sum(self.documented) / max(1, len(self.documented))
        return [
            f"{len(self.modules):,} ({short})",
            f"{sum(self.modules):,}",
            _spread(self.modules),
            _spread(self.functions),
            f"{share:.0f} %",
        ]


def figures(files: Iterable[Path]) -> Figures:
    """Read these modules."""
    found = Figures([], [], [])
    for file in files:
        text = file.read_text(encoding="utf-8")
        found.modules.append(text.count("\n"))
        tree = ast.parse(text)
        found.functions.extend(
            (each.end_lineno or each.lineno) - each.lineno + 1
            for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        found.documented.extend(ast.get_docstring(each) is not None for each in _public(tree))
    return found


def _public(node: ast.AST) -> Iterator[Definition]:
    """What is public in a module, and in its public classes."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, Definition) and not each.name.startswith("_"):
            yield each
            if isinstance(each, ast.ClassDef):
                yield from _public(each)


def _spread(numbers: Sequence[int]) -> str:
    ordered = sorted(numbers) or [0]
    ninth = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    return f"{statistics.median_high(ordered)}/{ninth}/{ordered[-1]}"


def table(source: Path) -> Iterator[str]:
    """The table, as Markdown."""
    yield f"| | {' | '.join(HEADINGS)} |"
    yield "|---" * (len(HEADINGS) + 1) + "|"
    for room in ROOMS:
        row = figures(sorted((source / room).rglob("*.py"))).row()
        yield f"| {room or 'all'} | {' | '.join(row)} |"


if __name__ == "__main__":
    print("\n".join(table(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)))
