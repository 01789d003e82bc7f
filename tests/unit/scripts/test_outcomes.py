"""What pytest's runs are written down as."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.outcomes import Outcomes

SUITE = """
import pytest
from waiting import eventually

def test_passes():
    pass

def test_waits():
    eventually(lambda: False, within=0.0)

def test_is_wrong():
    assert [1, 1] == [1]

@pytest.fixture
def slow():
    eventually(lambda: False, within=0.0)

def test_waits_before_it_begins(slow):
    pass

@pytest.fixture
def slow_end():
    yield
    eventually(lambda: False, within=0.0)

def test_is_wrong_and_waits_afterwards(slow_end):
    assert [] == [1]

def test_waits_at_its_end(slow_end):
    pass

@pytest.mark.skip(reason="to be counted")
def test_skipped():
    pass
"""


def run(folder: Path, *arguments: str) -> Outcomes | None:
    file = folder / "outcomes.json"
    options = ["-q", "-p", "scripts.outcomes", "--outcomes", str(file), "-p", "no:cacheprovider"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *arguments],
        capture_output=True,
        check=False,
    )
    return Outcomes.read(file)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param((), id="one process"),
        pytest.param(("-n", "1"), id="xdist", marks=pytest.mark.heavy),
    ],
)
def test_only_a_wait_that_ran_out_is_called_one(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    if more:  # xdist's workers find their plugins only by themselves
        monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
        monkeypatch.delenv("PYTEST_PLUGINS")
    (elsewhere / "test_suite.py").write_text(SUITE)
    outcomes = run(elsewhere, *more)
    assert outcomes is not None
    assert {test.partition("::")[2]: why for test, why in outcomes.failed.items()} == {
        "test_waits": "wait",
        "test_is_wrong": "content",
        "test_waits_before_it_begins": "wait",
        "test_is_wrong_and_waits_afterwards": "content",
        "test_waits_at_its_end": "wait",
    }
    assert outcomes.counts == {"passed": 1, "failed": 5, "skipped": 1}


def test_what_ends_when_the_time_is_over_does_not_count(elsewhere: Path) -> None:
    (elsewhere / "test_suite.py").write_text(SUITE)
    assert run(elsewhere, "--outcomes-until=1") == Outcomes({}, {})


def test_a_file_that_cannot_be_read_is_no_wait(elsewhere: Path) -> None:
    (elsewhere / "test_suite.py").write_text("import nothing_like_that")
    outcomes = run(elsewhere)
    assert outcomes is not None
    assert outcomes.failed == {"test_suite.py": "content"}
