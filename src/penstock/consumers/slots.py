"""The names under which members of a consumer's group say which partitions they hold.

A group's static member has an id that no two can have at once. Ours is the topic and, if it is not
about all of them, its partitions: ``orders`` or ``orders/0,3``. ("/" is in no topic's name.)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """Partitions of a topic; without any, all of them."""

    topic: str
    partitions: frozenset[int] = frozenset()

    def __str__(self) -> str:
        listed = ",".join(map(str, sorted(self.partitions)))
        return f"{self.topic}/{listed}" if listed else self.topic

    @staticmethod
    def parse(text: str) -> Slot | None:
        """The slot of this name; None if it is the name of something else."""
        topic, _, listed = text.partition("/")
        numbers = listed.split(",") if listed else []
        if not topic or not all(number.isdecimal() for number in numbers):
            return None
        return Slot(topic, frozenset(map(int, numbers)))

    def overlaps(self, other: Slot) -> bool:
        """Whether both have a partition in common."""
        if self.topic != other.topic:
            return False
        everything = not self.partitions or not other.partitions
        return everything or bool(self.partitions & other.partitions)

    def covers(self, partition: int) -> bool:
        """Whether the partition is among them."""
        return not self.partitions or partition in self.partitions
