"""A source of numbered records that misbehaves as its configuration says.

Task k emits ``k:0``, ``k:1``, … up to ``count``; its offset is ``{"next": n}``. A mishap strikes
task ``mishap.task`` when it is about to emit number ``mishap.at``; with ``mishap.once`` (a path)
only if that file does not exist yet, which it then does.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from penstock.sdk import (
    ConfigDef,
    ConfigKey,
    Importance,
    OffsetReader,
    RetriableError,
    Schema,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Type,
)

log = logging.getLogger(__name__)

KEYS = ConfigDef(
    ConfigKey("topic", importance=Importance.HIGH, doc="Where the numbers go."),
    ConfigKey("count", Type.INT, default=100, doc="How many numbers each task emits."),
    ConfigKey("batch", Type.INT, default=10, doc="How many numbers a poll returns."),
    ConfigKey("pause.ms", Type.INT, default=0, doc="How long a poll takes."),
    ConfigKey("limit.file", default="", doc="A file that holds the count, read at every poll."),
    ConfigKey("awaits.file", default="", doc="A file without which there is nothing to read yet."),
    ConfigKey("blind", Type.BOOLEAN, default=False, doc="Whether the connector has no look."),
    ConfigKey("mishap", default="", doc="exit, hang, eat, raise, sleep:<s>, until:<file>."),
    ConfigKey("mishap.task", Type.INT, default=0, doc="Which task it strikes."),
    ConfigKey("mishap.at", Type.INT, default=0, doc="At which number it strikes."),
    ConfigKey("mishap.once", default="", doc="A file that says it has struck."),
    ConfigKey("close.ms", Type.INT, default=0, doc="How long it takes to stop a task."),
    ConfigKey("closed.file", default="", doc="A file that is there once a task has stopped."),
    ConfigKey("password", Type.PASSWORD, default="", doc="A secret that must never be seen."),
)
STRING = Schema.string()
MOUTHFUL = 32 << 20


class ScriptedSourceTask(SourceTask):
    """Emits ``task:number``."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.config = KEYS.parse(config)
        self.task = int(config["task.id"])
        known = offsets.get({"task": self.task})
        self.next = known["next"] if known else 0
        self.struck = False

    def poll(self) -> list[SourceRecord] | None:
        log.debug("at number %d, logged in with %s", self.next, self.config["password"])
        self._wait_for_file()
        self._mishap()
        time.sleep(self.config["pause.ms"] / 1000)
        stop = min(self.next + self.config["batch"], limit(self.config))
        numbers = range(self.next, stop)
        self.next = max(stop, self.next)
        return [self._record(number) for number in numbers] or None

    def stop(self) -> None:
        time.sleep(self.config["close.ms"] / 1000)
        if self.config["closed.file"]:
            Path(self.config["closed.file"]).touch()

    def _record(self, number: int) -> SourceRecord:
        return SourceRecord(
            {"task": self.task},
            {"next": number + 1},
            self.config["topic"],
            f"{self.task}:{number}",
            value_schema=STRING,
            key=str(os.getpid()),
            key_schema=STRING,
        )

    def _wait_for_file(self) -> None:
        awaited = self.config["awaits.file"]
        if awaited and not Path(awaited).exists():
            raise RetriableError(f"{awaited} is not there, even for {self.config['password']}")

    def _mishap(self) -> None:
        config = self.config
        at = config["mishap.at"]
        if not config["mishap"] or self.task != config["mishap.task"] or self.struck:
            return
        if not (self.next <= at < self.next + config["batch"]) or self._struck_before():
            return
        self.struck = True
        kind, _, argument = config["mishap"].partition(":")
        strike(kind, argument, config["password"])

    def _struck_before(self) -> bool:
        once = self.config["mishap.once"]
        if not once:
            return False
        if Path(once).exists():
            return True
        Path(once).touch()
        return False


def limit(config: Mapping[str, object]) -> int:
    """How many numbers there are now."""
    file = Path(str(config["limit.file"]))
    if config["limit.file"]:
        return int(file.read_text() or 0) if file.exists() else 0
    return int(str(config["count"]))


def strike(kind: str, argument: str, secret: str) -> None:
    """Misbehave."""
    if kind == "exit":
        os._exit(7)
    if kind == "hang":
        while True:
            time.sleep(1)
    if kind == "eat":
        eaten = []
        while True:
            eaten.append(b"x" * MOUTHFUL)
            time.sleep(0.02)
    if kind == "sleep":
        time.sleep(float(argument))
    if kind == "until":
        while not Path(argument).exists():
            time.sleep(0.02)
    if kind == "raise":
        raise ValueError(f"cannot log in with {secret}")


class ScriptedSourceConnector(SourceConnector):
    """``tasks.max`` tasks, each with numbers of its own."""

    config_def = KEYS
    task_class: ClassVar[type[SourceTask]] = ScriptedSourceTask
    version = "1.0"

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)
        self.parsed = KEYS.parse(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.config, "task.id": str(task)} for task in range(max_tasks)]

    def look(self, offsets: OffsetReader) -> bool | None:
        if self.parsed["blind"]:
            return None
        tasks = range(int(self.config.get("tasks.max", "1")))
        known = [offsets.get({"task": task}) for task in tasks]
        count = limit(self.parsed)
        return any((offset["next"] if offset else 0) < count for offset in known)
