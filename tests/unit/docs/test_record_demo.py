"""The picture of the demo: a small screen for what rich prints, and no trace of this machine."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console
from rich.progress import Progress

from project_scripts import ROOT, load_script

PICTURE = ROOT / "docs" / "demo.svg"


@pytest.fixture(scope="module")
def record_demo() -> ModuleType:
    return load_script("record_demo")


def lines_of(record_demo: ModuleType, *printed: str) -> list[str]:
    screen = record_demo.Screen()
    for text in printed:
        screen.feed(text)
    return [line.text() for line in screen.lines]


@pytest.mark.parametrize(
    ("printed", "lines"),
    [
        ("one\r\ntwo", ["one", "two"]),
        ("12345\rab", ["ab345"]),
        ("old\r\x1b[2Knew", ["new"]),
        ("12345\r\x1b[2C", None),
        ("a\r\nb\r\n\x1b[1A\x1b[2Kc\r\n", ["a", "c", ""]),
        ("a\r\nb\r\n\x1b[2A12", ["12", "b", ""]),
        ("12345\rab\x1b[K", ["ab"]),
        ("\x1b[?25lhidden cursor\x1b[?25h", ["hidden cursor"]),
        ("\x1b[1;32mgreen\x1b[0m", ["green"]),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
    ],
)
def test_the_screen(record_demo: ModuleType, printed: str, lines: list[str] | None) -> None:
    if lines is None:
        with pytest.raises(ValueError, match="does not know"):
            lines_of(record_demo, printed)
    else:
        assert lines_of(record_demo, printed) == lines


def test_a_progress_bar_of_rich_leaves_its_last_state(record_demo: ModuleType) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=60, legacy_windows=False)
    console.print("before")
    with Progress("{task.description} {task.completed}", console=console) as progress:
        task = progress.add_task("counting", total=3)
        for _ in range(3):
            progress.advance(task)
            progress.refresh()
    console.print("after")
    lines = lines_of(record_demo, out.getvalue().replace("\n", "\r\n"))
    assert lines == ["before", "counting 3", "after", ""]


def test_what_is_cut_in_two_is_kept_for_later(record_demo: ModuleType) -> None:
    whole = "é\x1b[1;32mx\x1b[0m".encode()
    for cut in range(len(whole)):
        first, rest = record_demo.split_characters(whole[:cut])
        second, none = record_demo.split_characters(rest + whole[cut:])
        assert (first + second, none) == (whole.decode(), b"")


def test_scratch_folders_are_renamed_and_columns_stay(record_demo: ModuleType) -> None:
    screen = record_demo.Screen()
    screen.feed('"/tmp/penstock-demo-abcd1234/input.txt" | 5')
    (line,) = record_demo.without_this_machine(screen.lines)
    assert line.text() == '"/tmp/penstock-demo-k3mv8q2x/input.txt" | 5'


def test_nobody_waits_long_and_nothing_goes_back(record_demo: ModuleType) -> None:
    times = record_demo.shown_at([0.0, 30.0, 30.2, 29.0, 31.2])
    waits = [round(after - before, 2) for before, after in pairwise(times)]
    assert waits == [1.0, 0.2, 0.06, 1.0]


def test_every_line_is_in_the_picture_in_order(record_demo: ModuleType) -> None:
    screen = record_demo.Screen()
    screen.feed("".join(f"\x1b[1mline <{number}>\x1b[0m & more\r\n" for number in range(50)))
    picture = ET.fromstring(record_demo.svg(screen.lines))  # noqa: S314 (our own)
    groups = picture.findall(".//{*}g[@id]")
    texts = ["".join(group.itertext()) for group in groups if group.get("id", "").startswith("l")]
    assert texts[:50] == [f"line <{number}>& more" for number in range(50)]


def test_the_picture_in_the_tree() -> None:
    text = PICTURE.read_text()
    ET.fromstring(text)  # noqa: S314 (our own)
    assert "none lost, none twice" in text
    paths = set(re.findall(r"/(?:tmp|home|root|work|var|Users)/[\w.-]+", text))
    assert paths <= {"/tmp/penstock-demo-k3mv8q2x"}  # noqa: S108 (shown, never used)
    assert "http://127.0.0.1:8083" in text
    assert set(re.findall(r"https?://[^\s<\"]+", text)) <= {
        "http://127.0.0.1:8083",
        "http://www.w3.org/2000/svg",
    }
