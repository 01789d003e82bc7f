"""The seam for dealing objects out to tasks, early: before anything of them is read."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from zlib import crc32

from penstock.sdk.config import ConfigDef
from penstock.sdk.objects import StoredObject


class ObjectDistributionStrategy(ABC):
    """Gives each object to one task at most.

    Use it in one of two places:

    - in ``SourceConnector.plan``, which lists once for all tasks: ``plan`` makes a share for each
      of them, which goes along as ``share.to_config(…)``, and the task asks ``share.owns(name,
      strategy)``;
    - in a task's own iterator, on each name it lists: ``strategy.task_of(name, tasks) == mine``.

    It decides by the name alone, so that two tasks never disagree. Offsets belong to objects and
    not to tasks: with another ``tasks.max`` each object goes on where it was, read by whichever
    task now has it.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef()
    """Its keys, which the connector adds to its own."""

    def configure(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""
        self.settings: dict[str, Any] = self.config_def.parse(config)

    @abstractmethod
    def number_of(self, name: str) -> int | None:
        """A number that the object of this name always has; None if no task is to read it.

        Equal in every process: Python's ``hash`` of a text is not.
        """

    def task_of(self, name: str, tasks: int) -> int | None:
        """Which of so many tasks reads the object; None if none does."""
        number = self.number_of(name)
        return None if number is None else number % tasks

    def plan(
        self, objects: Collection[StoredObject], tasks: Sequence[int], count: int
    ) -> list[Share]:
        """A share for each of ``tasks``, those of ``count`` that may run, in that order.

        By default a task that has failed keeps its objects, unread, until it is restarted.
        """
        return [Share(task, count) for task in tasks]


@dataclass(frozen=True)
class Share:
    """The objects of one task, and enough of the plan to deal with objects that appear later.

    Within a plan an object has one reader: it is planned for one task at most, and what is not in
    the plan is dealt out by name alone.
    """

    index: int
    count: int
    """Objects outside of the plan are for this share if they are number ``index`` of ``count``."""
    mine: frozenset[str] = frozenset()
    planned: frozenset[int] = frozenset()
    """Checksums of all names in the plan. A new object with the same one waits for the next."""

    def owns(self, name: str, strategy: ObjectDistributionStrategy) -> bool:
        """Whether this task reads the object."""
        if name in self.mine:
            return True
        new = checksum(name) not in self.planned
        return new and strategy.task_of(name, self.count) == self.index

    def to_config(self, key: str) -> dict[str, str]:
        """As a part of a lease's configuration, under ``key``."""
        parts = [self.index, self.count, sorted(self.mine), sorted(self.planned)]
        return {key: json.dumps(parts, ensure_ascii=False, separators=(",", ":"))}

    @classmethod
    def from_config(cls, key: str, config: Mapping[str, str]) -> Self | None:
        """What ``to_config`` has written; None where nothing was planned."""
        if key not in config:
            return None
        index, count, mine, planned = json.loads(config[key])
        return cls(index, count, frozenset(mine), frozenset(planned))


def checksum(name: str) -> int:
    """The same in every process, unlike ``hash``."""
    return crc32(name.encode())
