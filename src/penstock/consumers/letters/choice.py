"""Which of the letters of a topic are meant."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.consumers.letters.letter import Letter


@dataclass(frozen=True)
class Choice:
    """Letters that fit everything that is given; without anything, all of them."""

    partitions: frozenset[int] = frozenset()
    start: int | None = None
    """The first offset, in each of the partitions."""
    end: int | None = None
    """The last offset, in each of the partitions."""
    errors: frozenset[str] = frozenset()
    """Classes of errors, with or without their package, whatever their case."""
    connectors: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    """Where the letters came from."""

    def takes(self, letter: Letter) -> bool:
        """Whether this letter is meant."""
        return (
            (self.start is None or letter.offset >= self.start)
            and (self.end is None or letter.offset <= self.end)
            and (not self.errors or self._is_error(letter.error))
            and (not self.connectors or letter.context.get("connector.name") in self.connectors)
            and (not self.topics or letter.topic in self.topics)
        )

    def _is_error(self, name: str) -> bool:
        names = {name.lower(), _simple(name)}
        return any(wanted.lower() in names for wanted in self.errors)


def _simple(name: str) -> str:
    return name.rpartition(".")[2].lower()
