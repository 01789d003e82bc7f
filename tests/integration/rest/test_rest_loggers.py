"""Log levels at run time, down to what a task logs inside Spark's Python workers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.client import ConnectClient
from waiting import eventually

TASK = "sample_connectors.scripted_source"
SECRET = "s3cr3t-of-the-source"


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
