"""What is in the files and topics now, and what the checker says of it."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from chaos.alterations import Alterations
from chaos.checker import Finding, Jump, compare, divided, numbers_read, spread
from chaos.load import SINKS, SOURCES, Load, Sink, Source
from chaos.records import Records, keys_of

FILE = "file"


class Contents:
    """The checker, applied to the ground's files and topics."""

    def __init__(self, load: Load, bootstrap_servers: str, alterations: Alterations) -> None:
        self._load, self._alterations = load, alterations
        self._servers = bootstrap_servers
        self._records = Records(bootstrap_servers)

    def check(self, newest: int, *, anew: bool = False) -> list[Finding]:
        """All that is wrong, given that ``newest`` lines of each source must have come through.

        With ``anew`` the topics are read from their beginning once more. KafkaException if the
        broker does not answer.
        """
        if anew:
            self._records = Records(self._servers)
        # What comes out is read before what goes in: so nothing seems to have come from nowhere.
        outputs = {each.name: lines_of(self._load.file(each.name)) for each in SINKS}
        self._records.read()
        inputs = {each.name: lines_of(self._load.file(each.name)) for each in SOURCES}
        seen = Seen(inputs, self._records.lines, self._records.offsets, outputs)
        return list(Judgement(seen, self._alterations, newest).findings())


@dataclass(frozen=True)
class Seen:
    """Lines of the sources' files, lines and offsets in topics, lines of the sinks' files."""

    inputs: Mapping[str, list[str]]
    lines: Mapping[str, list[str]]
    offsets: Mapping[str, list[int]]
    outputs: Mapping[str, list[str]]


@dataclass(frozen=True)
class Judgement:
    """What is wrong with what was seen, if ``newest`` lines of each source must be through."""

    seen: Seen
    alterations: Alterations
    newest: int

    def findings(self) -> Iterator[Finding]:
        """Topic by topic, then file by file."""
        for source in SOURCES:
            yield from self._topic(source)
        for sink in SINKS:
            yield from self._file(sink)

    def _topic(self, source: Source) -> list[Finding]:
        lines = self.seen.inputs[source.name]
        found = [self.seen.lines[key] for key in keys_of(source)]
        if source.partitions > 1:
            return spread(source.topic, found, lines, self.newest)
        numbers = numbers_read(len(lines), self.alterations.of(source.name, FILE))
        wanted = [lines[number] for number in numbers]
        return compare(source.topic, found[0], wanted, self._due(wanted, source.name))

    def _file(self, sink: Sink) -> Iterator[Finding]:
        sources = [each for each in SOURCES if each.name in sink.sources]
        keys = {key: each.name for each in sources for key in keys_of(each)}
        owners = {line: key for key in keys for line in self.seen.lines[key]}
        parts, strangers = divided(sink.name, self.seen.outputs[sink.name], owners)
        yield from strangers
        for key, source in keys.items():
            wanted = self._wanted(sink.name, key)
            least = self._due(wanted, source)
            yield from compare(f"{sink.name}, {key}", parts.get(key, []), wanted, least)

    def _wanted(self, sink: str, key: str) -> list[str]:
        """What a sink must have written of a partition, in order."""
        lines, offsets = self.seen.lines[key], self.seen.offsets[key]

        def index(offset: int) -> int:
            return bisect.bisect_left(offsets, offset)

        jumps = [Jump(index(j.at), index(j.to)) for j in self.alterations.of(sink, key)]
        return [lines[number] for number in numbers_read(len(lines), jumps)]

    def _due(self, wanted: list[str], source: str) -> int:
        """How many of ``wanted`` reach to the last line that must be through."""
        due = set(self.seen.inputs[source][: self.newest])
        return next((n for n in range(len(wanted), 0, -1) if wanted[n - 1] in due), 0)


def lines_of(file: Path) -> list[str]:
    """The whole lines of a file; none if it does not exist."""
    text = file.read_text() if file.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()
