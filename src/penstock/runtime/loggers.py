"""Log levels at run time, in Kafka Connect's words.

Besides Python's dotted logger names there is ``root``, and ``connector.<name>`` for everything
logged about one connector (see `penstock.logs.levels` for which level applies when).
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from penstock.logs.levels import CONNECTOR, NUMBERS, ROOT, Levels, in_use, level_name, use
from penstock.runtime.errors import BadRequest, NotFound

log = logging.getLogger(__name__)


class Loggers:
    """The loggers of this worker. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._modified: dict[str, int] = {}

    def all(self) -> dict[str, Any]:
        """Every logger that has a level of its own, and all of Penstock's."""
        return {name: self._entry(name, at) for name, at in sorted(_shown(in_use()).items())}

    def one(self, name: str) -> dict[str, Any]:
        """A listed logger, or any that was created in this process."""
        shown, levels = _shown(in_use()), in_use()
        if name not in shown and not _exists(name):
            raise NotFound(f"Logger {name} not found.")
        return self._entry(name, shown.get(name, levels.least(name, None)))

    @staticmethod
    def checked(level: str | None) -> str:
        """The name of a level, in capitals; BadRequest or NotFound if it is invalid."""
        if level is None:
            raise BadRequest("Desired 'level' parameter was not specified in request.")
        if level.upper() not in NUMBERS:
            raise NotFound(f"invalid log level '{level}'.").advising(
                f"Give one of {', '.join(NUMBERS)}."
            )
        return level.upper()

    def change(self, name: str, level: str | None) -> list[str]:
        """Set a level; returns the loggers whose level changed."""
        number = NUMBERS[wanted := self.checked(level)]
        with self._lock:
            before = _shown(in_use())
            use(in_use().changed(name, number))
            after = _shown(in_use())
            changed = sorted(n for n, at in after.items() if at != before.get(n))
            self._modified.update(dict.fromkeys(changed, time.time_ns() // 1_000_000))
        log.info("the level of logger %s and those below it is now %s", name, wanted)
        return changed

    def _entry(self, name: str, level: int) -> dict[str, Any]:
        return {"level": level_name(level), "last_modified": self._modified.get(name)}


def _shown(levels: Levels) -> dict[str, int]:
    names = {*levels.loggers, *(name for name in _existing() if name.startswith("penstock."))}
    connectors = {CONNECTOR + name: level for name, level in levels.connectors.items()}
    return {ROOT: levels.root, **{n: levels.least(n, None) for n in names}, **connectors}


def _existing() -> list[str]:
    """Loggers that were created; those between a logger and its parent are only placeholders."""
    known = list(logging.root.manager.loggerDict.items())
    return [name for name, logger in known if isinstance(logger, logging.Logger)]


def _exists(name: str) -> bool:
    return isinstance(logging.root.manager.loggerDict.get(name), logging.Logger)
