"""Records `penstock demo` as a picture: runs it in a terminal and writes docs/demo.svg.

The demo runs for real, in a pseudo-terminal of 100 columns. What it prints is followed on a small
screen, since progress bars move the cursor, and drawn as an SVG that scrolls as the demo did, with
the waits cut short. Viewers that ask for reduced motion, or cannot animate, show the end.

`make picture` runs this; give another file to write as the argument.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 100, 34
SHORTEST_WAIT, LONGEST_WAIT, REST = 0.06, 1.0, 6.0
PROMPT = "\x1b[1;32m$\x1b[0m \x1b[1mpenstock demo\x1b[0m\r\n"
SCRATCH = re.compile(r"/\S*?/penstock-demo-\w{8}")
SHOWN_SCRATCH = "/tmp/penstock-demo-k3mv8q2x"  # noqa: S108 (shown, never used)

# --- the screen -------------------------------------------------------------------------------

TOKEN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(.)", re.DOTALL)


@dataclass(frozen=True)
class Cell:
    """A character, and the colours it is in, as a terminal gets them."""

    text: str = " "
    colours: str = ""


@dataclass
class Line:
    """A line of the screen, and when it was last written to."""

    cells: list[Cell] = field(default_factory=list)
    written: float = 0.0

    def put(self, column: int, cell: Cell) -> None:
        """Write a cell, with blanks before it if need be."""
        self.cells += [Cell()] * (column + 1 - len(self.cells))
        self.cells[column] = cell

    def text(self) -> str:
        """What it says."""
        return "".join(cell.text for cell in self.cells).rstrip()

    def ansi(self) -> str:
        """What it says, with its colours."""
        runs = groupby(self.cells, key=lambda cell: cell.colours)
        return "".join(f"\x1b[0;{c}m" + "".join(cell.text for cell in run) for c, run in runs)


class Screen:
    """A terminal that never forgets a line: just what rich uses of one."""

    def __init__(self) -> None:
        self.lines: list[Line] = [Line()]
        self._row = self._column = 0
        self._colours = ""

    def feed(self, text: str, now: float = 0.0) -> None:
        """Take what a program has printed."""
        for code, command, character in TOKEN.findall(text):
            if command:
                self._command(code, command)
            elif character:
                self._character(character, now)

    def _character(self, character: str, now: float) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._go_to(self._row + 1)
        elif character >= " ":
            line = self.lines[self._row]
            line.put(self._column, Cell(character, self._colours))
            line.written = now
            self._column += 1

    def _command(self, code: str, command: str) -> None:
        if command == "m":
            self._colours = "" if code in ("", "0") else f"{self._colours};{code}".strip(";")
        elif command == "A":
            self._go_to(self._row - int(code or 1))
        elif command == "K":
            line = self.lines[self._row]
            line.cells = [] if code == "2" else line.cells[: self._column]
        elif command not in "hl":
            raise ValueError(f"a terminal command that this screen does not know: {code}{command}")

    def _go_to(self, row: int) -> None:
        self._row = max(0, row)
        self.lines += [Line() for _ in range(self._row + 1 - len(self.lines))]


# --- the demo ---------------------------------------------------------------------------------


def printed_by(command: Sequence[str]) -> Iterator[tuple[float, str]]:
    """What a command prints on a terminal, and when; SystemExit if it fails."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment())
    os.close(slave)
    began = time.monotonic()
    for text in chunks(master):
        yield time.monotonic() - began, text
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed: no picture is made of that.")


def environment() -> dict[str, str]:
    """A plain terminal, and nothing of the user's own Penstock but its jars."""
    kept = ("PENSTOCK_CACHE_DIR", "PENSTOCK_IVY_SETTINGS")
    clean = {k: v for k, v in os.environ.items() if k in kept or not k.startswith("PENSTOCK_")}
    clean.pop("NO_COLOR", None)
    # A short folder, so that tables with paths in them are as wide as on most machines.
    return {**clean, "TERM": "xterm-256color", "COLORTERM": "", "TMPDIR": tempfile.gettempdir()}


def chunks(terminal: int) -> Iterator[str]:
    """What comes from a terminal until its last program has ended."""
    rest = b""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        whole, rest = split_characters(rest + data)
        yield whole
    os.close(terminal)


def split_characters(data: bytes) -> tuple[str, bytes]:
    """Text, and the bytes at the end that are not a whole character or command yet."""
    cut = len(data)
    started = data.rfind(b"\x1b")
    if started >= 0 and not re.match(rb"\x1b(\[[0-9;?]*[A-Za-z]|\])", data[started:]):
        cut = started
    while cut:
        try:
            return data[:cut].decode(), data[cut:]
        except UnicodeDecodeError as error:
            cut = error.start
    return "", data


def recorded(command: Sequence[str]) -> list[Line]:
    """The lines that a command leaves on the screen, below a prompt."""
    screen = Screen()
    screen.feed(PROMPT)
    for now, text in printed_by(command):
        screen.feed(text, now)
    while not screen.lines[-1].text():
        screen.lines.pop()
    return screen.lines


# --- the picture ------------------------------------------------------------------------------

CELL_WIDTH, LINE_HEIGHT, MARGIN, BAR = 8.4, 19, 16, 34
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
BACKGROUND, FOREGROUND = "#1b1f27", "#d8dee9"
CALM = "@media (prefers-reduced-motion: reduce) { * { animation: none !important } }\n"


def svg(lines: Sequence[Line]) -> str:
    """The picture: a window of a terminal in which the lines appear and scroll."""
    rows = min(ROWS, len(lines))
    width = round(COLUMNS * CELL_WIDTH + 2 * MARGIN)
    inside = rows * LINE_HEIGHT
    height = BAR + inside + MARGIN
    shown = shown_at([line.written for line in lines])
    total = shown[-1] + REST
    body = "\n".join(drawn(number, line) for number, line in enumerate(lines))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img" aria-label="A terminal in which penstock demo runs">
<style>
{animation(shown, total)}{CALM}</style>
<rect width="{width}" height="{height}" rx="9" fill="{BACKGROUND}" stroke="#8888" />
<g fill="#ff5f57"><circle cx="20" cy="17" r="6" /></g>
<g fill="#febc2e"><circle cx="40" cy="17" r="6" /></g>
<g fill="#28c840"><circle cx="60" cy="17" r="6" /></g>
<svg x="{MARGIN}" y="{BAR}" width="{width - 2 * MARGIN}" height="{inside}">
<g id="paper" font-family="{FONT}" font-size="14" fill="{FOREGROUND}" xml:space="preserve" \
transform="translate(0 {-LINE_HEIGHT * (len(lines) - rows)})">
{body}
</g>
</svg>
</svg>
"""


def shown_at(written: Sequence[float]) -> list[float]:
    """When each line is shown: at a pace to follow, and without the long waits."""
    times, now, last = [], 0.6, 0.0
    for moment in written:
        now += min(max(moment - last, SHORTEST_WAIT), LONGEST_WAIT)
        last = max(moment, last)
        times.append(round(now, 2))
    return times


def animation(shown: Sequence[float], total: float) -> str:
    """Lines that appear one after the other, on paper that moves up once the window is full."""
    rules = [f"g {{ animation-duration: {total:.2f}s; animation-iteration-count: infinite }}"]
    steps = {0.0: 0}
    for number, moment in enumerate(shown):
        steps[moment] = max(0, number + 1 - ROWS)
        part = 100 * moment / total
        if number:
            rules.append(
                f"@keyframes l{number} {{ 0%, {part:.2f}% {{ visibility: hidden }} "
                f"{part + 0.01:.2f}%, 100% {{ visibility: visible }} }}\n"
                f"#l{number} {{ animation-name: l{number} }}"
            )
    frames = " ".join(
        f"{100 * moment / total:.2f}% {{ transform: translateY({-LINE_HEIGHT * row}px) }}"
        for moment, row in steps.items()
    )
    end = max(0, len(shown) - ROWS)
    rules.append(
        f"@keyframes paper {{ {frames} 100% {{ transform: translateY({-LINE_HEIGHT * end}px) }} }}"
    )
    rules.append("#paper { animation-name: paper; animation-timing-function: step-end }")
    return "\n".join(rules) + "\n"


def drawn(number: int, line: Line) -> str:
    """A line as text, a run of equal style at a time, each where its columns are."""
    text = Text.from_ansi(line.ansi())
    console = Console(file=io.StringIO(), width=10 * COLUMNS, color_system="truecolor")
    runs, column = [], 0
    for segment in text.render(console):
        blank = not segment.text.strip()
        if not blank and segment.text != "\n":
            runs.append(run(number, column, segment.text, segment.style or Style()))
        column += len(segment.text)
    return f'<g id="l{number}">{"".join(runs)}</g>'


def run(number: int, column: int, text: str, style: Style) -> str:
    """Text of one style. Its length is given: a font of other widths must not break tables."""
    begins = column + len(text) - len(text.lstrip())
    text = text.strip()
    colour = ""
    if style.color is not None:
        red, green, blue = style.color.get_truecolor(MONOKAI)
        colour = f' fill="#{red:02x}{green:02x}{blue:02x}"'
    weight = ' font-weight="bold"' if style.bold else ""
    faint = ' opacity="0.65"' if style.dim else ""
    return (
        f'<text x="{begins * CELL_WIDTH:.1f}" y="{number * LINE_HEIGHT + 14}" '
        f'textLength="{len(text) * CELL_WIDTH:.1f}"{colour}{weight}{faint}>{escape(text)}</text>'
    )


def without_this_machine(lines: Sequence[Line]) -> list[Line]:
    """The scratch folder by a name as long as its own; it is another in every run."""
    return [Line(replaced(line.cells), line.written) for line in lines]


def replaced(cells: Sequence[Cell]) -> list[Cell]:
    """Cells with the scratch folder's name replaced; what stands behind it keeps its column."""
    text = "".join(cell.text for cell in cells)
    shown = SCRATCH.sub(lambda found: SHOWN_SCRATCH[-len(found[0]) :].rjust(len(found[0])), text)
    return [Cell(letter, cell.colours) for letter, cell in zip(shown, cells, strict=True)]


def main(arguments: Sequence[str]) -> None:
    """Record, and write the picture."""
    target = Path(arguments[0]) if arguments else ROOT / "docs" / "demo.svg"
    # The picture's prompt shows this command, and so must what the demo says to type next.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    lines = without_this_machine(recorded(["penstock", "demo"]))
    target.parent.mkdir(exist_ok=True)
    target.write_text(svg(lines), encoding="utf-8")
    print(f"{target}: {len(lines)} lines, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
