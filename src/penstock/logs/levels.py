"""Log levels: Kafka Connect's names for them, and which lines a process keeps.

A logger without a level of its own has that of its nearest ancestor with one. If that is the root,
lines about a connector use the level of ``connector.<name>``, if it is set, and all others the
root's.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import PurePath
from typing import Any

from penstock.logs.subject import stamp, subject_of

NUMBERS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50, "OFF": 100}
ROOT = "root"
CONNECTOR = "connector."
# These log every request and every call, so they start at WARN. Setting the root's level sets
# theirs too, as Kafka Connect does.
TALKATIVE = ("httpx", "httpcore", "py4j", "kafka", "uvicorn")


def level_name(number: int) -> str:
    """Kafka Connect's name for a level of Python's."""
    names = [name for name, at in NUMBERS.items() if at <= number]
    return names[-1] if names else "TRACE"


@dataclass(frozen=True)
class Levels:
    """The levels of a worker. A value: it travels to leases as it is."""

    root: int = logging.INFO
    loggers: Mapping[str, int] = field(
        default_factory=lambda: dict.fromkeys(TALKATIVE, logging.WARNING)
    )
    connectors: Mapping[str, int] = field(default_factory=dict)
    version: int = 0
    """Grows with every change, so that a lease can tell whether it has the latest."""

    def least(self, logger: str, connector: str | None) -> int:
        """The lowest level at which a line of ``logger`` about ``connector`` is kept."""
        name = logger
        while name:
            if name in self.loggers:
                return self.loggers[name]
            name = name.rpartition(".")[0]
        return self.connectors.get(connector or "", self.root)

    def keeps(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be kept."""
        return record.levelno >= self.least(_logger_of(record), subject_of(record)[0])

    def changed(self, name: str, level: int) -> Levels:
        """With ``level`` for a logger and everything below it; the root's is for everything."""
        if name == ROOT:
            return Levels(level, dict.fromkeys(self.loggers, level), {}, self.version + 1)
        if name.startswith(CONNECTOR):
            connectors = {**self.connectors, name.removeprefix(CONNECTOR): level}
            return replace(self, connectors=connectors, version=self.version + 1)
        changed = {n: level if _below(n, (name,)) else at for n, at in self.loggers.items()}
        return replace(self, loggers={**changed, name: level}, version=self.version + 1)

    def for_connector(self, connector: str) -> Levels:
        """The levels that a process needs which serves only this connector."""
        return replace(self, root=self.connectors.get(connector, self.root), connectors={})

    def to_json(self) -> dict[str, Any]:
        """As JSON, to be sent to a running lease."""
        return asdict(self)


def _logger_of(record: logging.LogRecord) -> str:
    """Py4J writes to the root logger, with a traceback, when Spark ends under a call."""
    by_py4j = record.name == ROOT and PurePath(record.pathname).parent.name == "py4j"
    return "py4j" if by_py4j else record.name


def _below(logger: str, ancestors: tuple[str, ...]) -> bool:
    return any(logger == name or logger.startswith(f"{name}.") for name in ancestors)


class _InUse:
    levels = Levels()


def in_use() -> Levels:
    """The levels of this process."""
    return _InUse.levels


def use(levels: Levels) -> None:
    """Make these the levels of this process."""
    for name in _InUse.levels.loggers.keys() - levels.loggers.keys():
        logging.getLogger(name).setLevel(logging.NOTSET)
    for name, level in levels.loggers.items():
        logging.getLogger(name).setLevel(level)
    # Python must let through what any connector logs; `Kept` drops the rest.
    logging.root.setLevel(min((levels.root, *levels.connectors.values())))
    _InUse.levels = levels


class Kept(logging.Filter):
    """For handlers: marks records with their connector and task, drops those below the level."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is kept."""
        return in_use().keeps(stamp(record))
