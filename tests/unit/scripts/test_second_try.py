"""Who gets a second try in CI, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.outcomes import CONTENT, WAIT, Outcomes
from scripts.second_try import MOST, main, run_pytest

ALL = ["tests"]


class Runs:
    """Stands for pytest: the first run ends with ``outcomes``; alone, these ``pass_alone``."""

    def __init__(self, outcomes: Outcomes | None, *pass_alone: str, status: int = 1) -> None:
        self._first = status, outcomes
        self._pass_alone = pass_alone
        self.alone: list[str] = []

    def __call__(self, arguments: list[str]) -> tuple[int, Outcomes | None]:
        if arguments == ALL:
            return self._first
        (test,) = arguments
        self.alone.append(test)
        return (0 if test in self._pass_alone else 1), None


@pytest.fixture
def unsteady(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "unsteady"
    file.touch()
    monkeypatch.setenv("UNSTEADY", str(file))
    return file


def failed(*waits: str, content: tuple[str, ...] = ()) -> Outcomes:
    why = dict.fromkeys(waits, WAIT) | dict.fromkeys(content, CONTENT)
    return Outcomes({"passed": 10, "skipped": 1, "failed": len(why)}, why)


def test_a_wait_that_ran_out_is_tried_again_alone_and_named(
    unsteady: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs(failed("a", "b"), "a", "b")
    assert main(ALL, runs) == 0
    assert runs.alone == ["a", "b"]
    assert unsteady.read_text() == "a\nb\n"
    closing = capsys.readouterr().out.splitlines()[-1]
    assert closing.startswith("==== 12 passed, 1 skipped in ")
    assert "2 on the second try" in closing


def test_one_that_fails_again_has_failed(
    unsteady: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(ALL, Runs(failed("a", "b"), "b")) == 1
    assert unsteady.read_text() == "b\n"
    assert "==== 1 failed, 11 passed, 1 skipped in" in capsys.readouterr().out


@pytest.mark.parametrize(
    "outcomes",
    [
        failed(content=("a",)),
        failed("a", content=("b",)),
        failed(*map(str, range(MOST + 1))),
        failed(),
        None,
    ],
    ids=["content", "content among waits", "too many", "nothing failed", "nothing written"],
)
def test_nothing_else_is_tried_again(unsteady: Path, outcomes: Outcomes | None) -> None:
    runs = Runs(outcomes)
    assert main(ALL, runs) == 1
    assert runs.alone == []
    assert unsteady.read_text() == ""


@pytest.mark.parametrize("status", [0, 2, 3, 4, 5])
def test_how_pytest_ended_is_how_this_ends(unsteady: Path, status: int) -> None:
    runs = Runs(failed("a"), status=status)
    assert main(ALL, runs) == status
    assert runs.alone == []


def test_a_real_run(elsewhere: Path, unsteady: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The suite's wait runs out in the first run and not in the second."""
    suite = elsewhere / "test_suite.py"
    suite.write_text(
        "from pathlib import Path\n"
        "from waiting import eventually\n"
        "def test_it():\n"
        f"    seen = Path({str(elsewhere / 'seen')!r})\n"
        "    there = seen.exists()\n"
        "    seen.touch()\n"
        "    eventually(lambda: there, within=0.0)\n"
    )
    assert main([suite.name, "-q", "-p", "no:cacheprovider"], run_pytest) == 0
    assert unsteady.read_text() == "test_suite.py::test_it\n"
    assert "==== 1 passed in" in capfd.readouterr().out
