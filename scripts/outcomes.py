"""A pytest plugin that writes down which tests failed, and whether only a wait had run out.

``-p scripts.outcomes --outcomes FILE``, with or without xdist.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

WAIT, CONTENT = "wait", "content"


@dataclass
class Outcomes:
    """How a run of pytest ended."""

    counts: dict[str, int] = field(default_factory=dict)
    """How many tests ``passed``, ``failed`` and were ``skipped``; one that fails in two phases
    counts once."""
    failed: dict[str, str] = field(default_factory=dict)
    """Tests that failed in any phase: ``wait`` if waits ran out and nothing else was wrong."""

    @classmethod
    def read(cls, file: Path) -> Outcomes | None:
        """What a run has written; None if it did not get that far."""
        return cls(**json.loads(file.read_text())) if file.exists() else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the outcomes go."""
    parser.addoption("--outcomes", type=Path, help="write which tests failed, and why, as JSON")
    parser.addoption(
        "--outcomes-until",
        type=float,
        default=math.inf,
        help="seconds since the epoch: what fails later does not count, since it was interrupted",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Under xdist only the controller writes; it hears of every test."""
    if not hasattr(config, "workerinput") and (file := config.getoption("--outcomes")):
        config.pluginmanager.register(Recorder(file, config.getoption("--outcomes-until")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note in the report, which xdist passes on, that a wait ran out."""
    # Not at the top: plugins are imported before tests/support is on the path.
    from waiting import WaitRanOut

    report = yield
    ran_out = call.excinfo is not None and call.excinfo.errisinstance(WaitRanOut)
    report.wait_ran_out = ran_out  # type: ignore[attr-defined]  # reports carry what plugins add
    return report


class Recorder:
    """Collects the reports of a run and writes them at its end."""

    def __init__(self, file: Path, until: float) -> None:
        self._file = file
        self._until = until
        self._failed: dict[str, str] = {}
        self._ended: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take one phase of a test; the worst of its phases counts."""
        if time.time() > self._until:
            return
        if report.failed:
            self._fail(report.nodeid, WAIT if getattr(report, "wait_ran_out", False) else CONTENT)
        elif report.skipped or report.when == "call":
            self._ended.setdefault(report.nodeid, report.outcome)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read has failed, and not by waiting."""
        if report.failed:
            self._fail(report.nodeid, CONTENT)

    def pytest_sessionfinish(self) -> None:
        """Write what there is."""
        outcomes = Outcomes(dict(Counter(self._ended.values())), self._failed)
        self._file.write_text(json.dumps(asdict(outcomes)))

    def _fail(self, test: str, why: str) -> None:
        self._ended[test] = "failed"
        if self._failed.get(test) != CONTENT:
            self._failed[test] = why
