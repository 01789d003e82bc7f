"""Log levels at run time, down to what a task logs inside Spark's Python workers."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.client import ConnectClient
from penstock.logs.forms import TextForm
from penstock.logs.levels import Kept, in_use, use
from waiting import eventually

TASK = "sample_connectors.scripted_source"
SECRET = "s3cr3t-of-the-source"


@pytest.fixture
def log() -> Iterator[Callable[[], list[str]]]:
    """The lines of the worker's log, as in its file; levels come back after the test."""
    before, root = in_use(), logging.root.level
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextForm())
    handler.addFilter(Kept())
    logging.root.addHandler(handler)
    yield lambda: stream.getvalue().splitlines()
    logging.root.removeHandler(handler)
    use(before)
    logging.root.setLevel(root)


def test_a_running_task_tells_more_and_less(
    connectors: ConnectClient,
    scripted: Any,
    name: str,
    log: Callable[[], list[str]],
) -> None:
    scripted(tasks_max=1, count=100_000, pause_ms=50, password=SECRET)
    connectors.create(
        other := f"{name}-other",
        {"connector.class": "ScriptedSource", "topic": name, "blind": "true"},
    )

    def told() -> list[str]:
        pattern = rf"\S+ \S+ DEBUG \[{name}\|task-0\] {re.escape(TASK)}: at number \d+"
        return [line for line in log() if re.match(pattern, line)]

    def position() -> int:
        return sum(entry["offset"]["next"] for entry in connectors.offsets(name))

    eventually(lambda: position() > 0, what="the first records")
    assert told() == []

    logger = f"connector.{name}"
    assert connectors.set_logger_level(logger, "DEBUG") == [logger]
    eventually(told, within=20, what="what the task logs")
    assert connectors.logger(logger)["level"] == "DEBUG"
    assert all("logged in with [hidden]" in line for line in told())
    assert SECRET not in "\n".join(log())
    assert not [line for line in log() if f"DEBUG [{other}" in line]

    connectors.set_logger_level(logger, "INFO")
    before, at = len(told()), position()
    eventually(lambda: position() > at + 100, what="many more records")
    assert len(told()) == before

    assert "sample_connectors" in connectors.set_logger_level("sample_connectors", "DEBUG")
    eventually(lambda: len(told()) > before, within=20, what="what the task's own logger logs")
