"""What each task is to read in a turn: cut by the connector, read by the task."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy, Share
from penstock.sdk.objects import StoredObject

ORDER: Final = "objects.order"
"""Key of a lease's order; set again for every turn, and never stored."""


@dataclass
class Order:
    """The objects of one task, in the order of their keys."""

    objects: list[tuple[int, ListedObject]] = field(default_factory=list)
    """Each with the number of its virtual bucket."""
    begin: dict[int, int] = field(default_factory=dict)
    """With which horizon a virtual bucket begins that has no mark yet; 0 where that is not said."""
    advance: dict[int, int] = field(default_factory=dict)
    """To which horizon a virtual bucket advances once all its objects here are finished."""
    selection: str = ""
    """The name of the present selection in partitions of marks."""
    selected: str = ""
    """Its text (``source_selection``)."""

    def to_config(self) -> dict[str, str]:
        """As a part of a lease's configuration."""
        objects = [[n, o.key, o.size, o.modified, o.etag] for n, o in self.objects]
        horizons = [list(self.begin.items()), list(self.advance.items())]
        parts = [objects, *horizons, self.selection, self.selected]
        return {ORDER: json.dumps(parts, ensure_ascii=False, separators=(",", ":"))}

    @classmethod
    def from_config(cls, config: Mapping[str, str]) -> Self:
        """What ``to_config`` has written; nothing to do where nothing was planned."""
        objects, begin, advance, *of = json.loads(config.get(ORDER, "[[],[],[]]"))
        listed = [(number, ListedObject(*rest)) for number, *rest in objects]
        return cls(listed, dict(begin), dict(advance), *of)


class Dealer:
    """Deals virtual buckets out to tasks; those of a failed task stay unread until it restarts."""

    def __init__(self, strategy: ObjectDistributionStrategy) -> None:
        self._strategy = strategy
        self._dealt: dict[int, frozenset[int]] = {}

    def held(self, tasks: Collection[int], count: int) -> frozenset[int]:
        """The virtual buckets that no one of ``tasks`` is to read."""
        failed = (numbers for task, numbers in self._dealt.items() if task not in tasks)
        shares = self._strategy.plan([], list(tasks), count)
        unowned = (n for n in range(VIRTUAL_BUCKETS) if not any(_has(s, n) for s in shares))
        return frozenset(unowned).union(*failed)

    def deal(
        self, left: Mapping[int, int], tasks: Sequence[int], count: int
    ) -> list[frozenset[int]]:
        """The virtual buckets of each of ``tasks``; ``left`` says how many bytes each has."""
        numbers = [StoredObject(str(number), size) for number, size in left.items()]
        shares = self._strategy.plan(numbers, tasks, count)
        dealt = [frozenset(n for n in left if _has(share, n)) for share in shares]
        self._dealt.update(zip(tasks, dealt, strict=True))
        return dealt


def _has(share: Share, number: int) -> bool:
    return str(number) in share.mine or (not share.planned and number % share.count == share.index)


def virtual_bucket(strategy: ObjectDistributionStrategy, name: str) -> int | None:
    """The number of an object's virtual bucket, always the same; None if no task is to read it."""
    number = strategy.number_of(name)
    return None if number is None else number % VIRTUAL_BUCKETS


def orders(
    found: Iterable[tuple[int, ListedObject]],
    dealt: Sequence[frozenset[int]],
    begin: Mapping[int, int],
    advance: Mapping[int, int],
    selection: tuple[str, str] = ("", ""),
) -> list[Order]:
    """An order for each of ``dealt``; its marks are of the selection of that name and text."""
    name, text = selection
    made = [Order(selection=name, selected=text) for _ in dealt]
    owner = {
        number: order for order, numbers in zip(made, dealt, strict=True) for number in numbers
    }
    for number, each in found:
        if number in owner:
            owner[number].objects.append((number, each))
    for number, order in owner.items():
        if number in begin:
            order.begin[number] = begin[number]
        if number in advance:
            order.advance[number] = advance[number]
    return made
