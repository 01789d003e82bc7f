"""Results as a table on the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

Stored = dict[str, Any]
COLUMNS = ("side", "median", "spread", "ours / this", "per round", "target", "result")
VERDICTS = {True: "met", False: "missed", None: ""}
MISSED = "Goals missed, and why"


def lines_of(result: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The table lines of a stored row, a text for every column."""
    yield from _lines(result["sides"])
    for figure in result.get("also", ()):
        yield from _lines(figure["sides"], f"{figure['unit']}: ")


def _lines(sides: Mapping[str, Any], unit: str = "") -> Iterator[tuple[str, ...]]:
    for side, told in sides.items():
        ratio = told.get("ours_divided_by_this")
        yield (
            f"{unit}{side}",
            figure(told["median"]),
            f"{told['spread']:.0%}",
            "" if ratio is None else f"{ratio:.2f}",
            " ".join(f"{each:.2f}" for each in told.get("per_round", ())),
            told.get("target") or "",
            VERDICTS[told.get("met")],
        )


def figure(value: float) -> str:
    """A figure as people read it: three digits, or whole thousands."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def heading(name: str, result: Mapping[str, Any]) -> str:
    """What a row measures, and in which unit."""
    return f"{name}: {result['title']}, {result['unit']}"


def table(name: str, result: Mapping[str, Any]) -> Table:
    """A row for the terminal."""
    shown = Table(*COLUMNS, title=heading(name, result), title_justify="left")
    for line in lines_of(result):
        style = "red" if line[-1] == VERDICTS[False] else ""
        shown.add_row(*line, style=style)
    return shown


def markdown(stored: Stored, bounds: Mapping[str, str]) -> str:
    """All rows as a page."""
    return _page(stored, _new_sections(stored, bounds), bounds)


def updated(page: str, stored: Stored, bounds: Mapping[str, str], every: Iterable[str]) -> str:
    """A page with the rows in ``stored`` anew. Others stay as they are, with date and processor."""
    parts = {**_sections(page), **_new_sections(stored, bounds)}
    return _page(stored, {name: parts[name] for name in every if name in parts}, bounds)


def _page(stored: Stored, parts: Mapping[str, str], bounds: Mapping[str, str]) -> str:
    facts = "".join(f"- {key}: {value}\n" for key, value in stored["machine"].items())
    return "\n".join([f"{HEADER}\n{facts}", _missed(parts, bounds), *parts.values()])


def _missed(parts: Mapping[str, str], bounds: Mapping[str, str]) -> str:
    """The rows with a missed target, those of earlier runs among them."""
    lines = []
    for name, part in parts.items():
        missed = [_short(cells) for cells in _cells(part) if cells["result"] == VERDICTS[False]]
        if missed:
            lines.append(f"- {name}: {'; '.join(missed)}. {bounds.get(name, '')}".rstrip() + "\n")
    return f"## {MISSED}\n\n{''.join(lines) or NONE_MISSED}"


def _cells(part: str) -> Iterator[dict[str, str]]:
    """The table lines of a row's part of the page."""
    for line in part.splitlines():
        if line.startswith("| "):
            yield dict(zip(COLUMNS, map(str.strip, line.strip("|").split("|")), strict=True))


def _short(cells: Mapping[str, str]) -> str:
    side, ratio = cells["side"], cells["ours / this"]
    found = f"{ratio}x {side}" if ratio else f"{side} {cells['median']}"
    return f"{found}, {cells['target']} wanted"


def _sections(page: str) -> dict[str, str]:
    _, *parts = page.split("\n## ")
    return {part.split(":")[0]: f"## {part.strip()}\n" for part in parts}


def write(folder: Path, stored: Stored, page: str) -> None:
    """Write both files, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / "results.json", json.dumps(stored, indent=1) + "\n")
    replace(folder / "results.md", page)


def replace(path: Path, text: str) -> None:
    """Write a file under another name first."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def _new_sections(stored: Stored, bounds: Mapping[str, str]) -> dict[str, str]:
    processor = stored["machine"].get("processor", "an unknown processor")
    return {
        name: _section(name, row, bounds.get(name, ""), processor)
        for name, row in stored["rows"].items()
    }


def _section(name: str, row: Mapping[str, Any], bound: str, processor: str) -> str:
    cells = [COLUMNS, tuple("---" for _ in COLUMNS), *lines_of(row)]
    lines = "".join(f"| {' | '.join(line)} |\n" for line in cells)
    notes = "".join(f"- {note}\n" for note in (*row["notes"], *([bound] if bound else [])))
    measured = f"Measured {row['measured']} on {processor}."
    return f"## {heading(name, row)}\n\n{lines}\n{measured}\n\n{notes}"


HEADER = """\
# Benchmarks

Made by `make bench`; one row again with `make bench ROW=<name>`. The sides of a row run
on one machine and one broker, ours and theirs in turns; another row may be from another day and
processor, so compare only within a row. A median is that of the rounds; the spread is highest
less lowest, as a part of the median. A rate counts from the moment at which the request to create
the connector was answered until the last record is visible, and after every run the records are
counted. A line that begins with a unit is of another figure of the same runs. A target is on ours
divided by the side of its line; on a line of ours it is on the figure itself.
"""
NONE_MISSED = "None: every target below is met.\n"
