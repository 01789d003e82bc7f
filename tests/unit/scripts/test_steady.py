"""What `make steady` says about tests that fail by chance."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from scripts import steady
from scripts.outcomes import Outcomes
from waiting import eventually

FLAKY = """
from pathlib import Path

def test_fails_every_other_time():
    seen = Path(__file__).with_name("seen")
    if seen.exists():
        seen.unlink()
    else:
        seen.touch()
        assert [] == [1]

def test_passes():
    pass
"""


def test_what_failed_how_often(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "test_flaky.py").write_text(FLAKY)
    arguments = ["--times", "2", "--load", "1", "test_flaky.py", "-q", "-p", "no:cacheprovider"]
    assert steady.main(arguments) == 1
    *_, verdict, row = capsys.readouterr().out.splitlines()
    assert verdict == "steady: 2 whole runs of 2; failed by chance:"
    assert row == "  1 of 2  content  test_flaky.py::test_fails_every_other_time"


def test_the_worst_comes_first() -> None:
    tally = steady.Tally()
    tally.add(Outcomes({}, {"a": "wait", "b": "content"}), 1)
    tally.add(Outcomes({}, {"b": "content"}), 1)
    assert tally.lines() == [
        "steady: 2 whole runs of 2; failed by chance:",
        "  2 of 2  content  b",
        "  1 of 2  wait     a",
    ]


def test_a_run_that_stumbled_is_no_clean_one() -> None:
    tally = steady.Tally()
    tally.add(None, 4)
    tally.add(Outcomes({}, {}), 3)
    assert tally.failures.total() == 2
    assert tally.lines()[1] == "  1 of 2  exit 4   the run itself"


def test_a_run_cut_short_counts_for_nothing_but_its_failures() -> None:
    tally = steady.Tally()
    tally.add(None, None)
    assert (tally.whole, tally.failures.total()) == (0, 0)


def test_a_process_whose_time_is_over_is_interrupted() -> None:
    waiting = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    assert steady.ended_by(waiting, time.monotonic()) is None
    assert waiting.returncode is not None


def test_the_load_ends_with_its_block() -> None:
    before = psutil.Process().children()
    with steady.load(2):
        busy = [child for child in psutil.Process().children() if child not in before]
        assert len(busy) == 2
    eventually(lambda: not any(each.is_running() for each in busy), what="the end of the load")
