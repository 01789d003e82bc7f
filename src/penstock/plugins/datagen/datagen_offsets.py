"""Where a datagen task stands: Confluent's partition and offset."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader

TASK_ID: Final = "task.id"
ITERATION: Final = "current.iteration"
SEED: Final = "random.seed"
GENERATION: Final = "task.generation"
_LIMIT: Final = 2**63


@dataclass(frozen=True)
class Standing:
    """The number of the next record, and what the records' values depend on."""

    task: int
    iteration: int
    seed: int
    generation: int = 0

    @property
    def partition(self) -> dict[str, Any]:
        """The task's source partition."""
        return {TASK_ID: self.task}

    def offset(self, iteration: int) -> dict[str, Any]:
        """The offset once all records before ``iteration`` are delivered."""
        return {GENERATION: self.generation + 1, ITERATION: iteration, SEED: self.seed}


def standing(task: int, offsets: OffsetReader, seed: int | None) -> Standing:
    """Where ``task`` begins; without an offset or a seed, with a new seed."""
    found = offsets.get({TASK_ID: task})
    if found is None:
        chosen = random.SystemRandom().randrange(_LIMIT) if seed is None else seed
        return Standing(task, 0, chosen)
    _check(found)
    kept = found.get(SEED, 0 if seed is None else seed)
    return Standing(task, found[ITERATION], kept, found.get(GENERATION, 0))


def check_alteration(partition: Mapping[str, Any] | None, offset: Mapping[str, Any] | None) -> None:
    """Refuse what no task could continue from."""
    if partition is None or not _is_count(partition.get(TASK_ID)):
        raise OffsetError(f'A source partition must be of the form {{"{TASK_ID}": 0}}.')
    if offset is not None:
        _check(offset)


def _check(offset: Mapping[str, Any]) -> None:
    if not _is_count(offset.get(ITERATION)):
        raise OffsetError(f'An offset must have "{ITERATION}", the number of the next record.')
    seed = offset.get(SEED, 0)
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise OffsetError(f'"{SEED}" must be an integer.')


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LIMIT
