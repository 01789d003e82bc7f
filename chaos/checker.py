"""Whether what came out is what went in: functions of lists, without Kafka and without files.

A reader hands on what it reads in order, each entry once. Only where somebody altered its offset
does it go elsewhere, and then exactly there: a `Jump`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

LOST, TWICE, FOREIGN, ORDER = "lost", "twice", "foreign", "order"
QUOTED = 3


@dataclass(frozen=True)
class Jump:
    """An altered offset: after all before number ``at`` comes number ``to``."""

    at: int
    to: int


@dataclass(frozen=True)
class Finding:
    """What is wrong (``lost``, ``twice``, ``foreign``, ``order``), where, and what to look at."""

    kind: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.where}: {self.text}"


def numbers_read(end: int, jumps: Iterable[Jump]) -> list[int]:
    """The numbers that a reader hands on, in order, until it stands at ``end``."""
    numbers: list[int] = []
    start = 0
    for jump in jumps:
        numbers += range(start, jump.at)
        start = jump.to
    return numbers + list(range(start, end))


def compare(where: str, found: Sequence[str], wanted: Sequence[str], least: int) -> list[Finding]:
    """What is wrong with ``found``: it must be the beginning of ``wanted``, and that long at least.

    Whoever calls this has read ``found`` before ``wanted``, so that nothing is newer than that.
    """
    if list(wanted[: len(found)]) == list(found):
        late = wanted[len(found) : least]
        return [_finding(LOST, where, late)] if late else []
    return _miscounted(where, found, wanted, least) or [_disorder(where, found, wanted)]


def spread(
    where: str, found: Sequence[Sequence[str]], wanted: Sequence[str], least: int
) -> list[Finding]:
    """As `compare`, for entries without repetition that were dealt out among partitions."""
    place = {entry: number for number, entry in enumerate(wanted)}
    findings = [
        finding
        for number, part in enumerate(found)
        for finding in _descents(f"{where}-{number}", part, place)
    ]
    together = [entry for part in found for entry in part]
    return findings + _miscounted(where, together, wanted, least)


def divided(
    where: str, found: Iterable[str], owners: Mapping[str, str]
) -> tuple[dict[str, list[str]], list[Finding]]:
    """The entries by their owners, in order; a finding for those that have none."""
    parts: dict[str, list[str]] = {}
    strangers = []
    for entry in found:
        if (owner := owners.get(entry)) is None:
            strangers.append(entry)
        else:
            parts.setdefault(owner, []).append(entry)
    return parts, [_finding(FOREIGN, where, strangers)] if strangers else []


def _miscounted(
    where: str, found: Sequence[str], wanted: Sequence[str], least: int
) -> list[Finding]:
    there, due, possible = Counter(found), Counter(wanted[:least]), Counter(wanted)
    surplus = there - possible
    strange = [entry for entry in surplus if entry not in possible]
    kinds = {
        LOST: list((due - there).elements()),
        TWICE: [entry for entry in surplus.elements() if entry in possible],
        FOREIGN: strange,
    }
    return [_finding(kind, where, entries) for kind, entries in kinds.items() if entries]


def _disorder(where: str, found: Sequence[str], wanted: Sequence[str]) -> Finding:
    pairs = zip(found, wanted, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), len(wanted))
    due = _short(wanted[at]) if at < len(wanted) else "nothing"
    return Finding(ORDER, where, f"number {at} is {_short(found[at])}, due was {due}")


def _descents(where: str, part: Sequence[str], place: Mapping[str, int]) -> list[Finding]:
    known = [(place[entry], entry) for entry in part if entry in place]
    back = [b[1] for a, b in pairwise(known) if b[0] < a[0]]
    return [_finding(ORDER, where, back)] if back else []


def _finding(kind: str, where: str, entries: Sequence[str]) -> Finding:
    quoted = ", ".join(_short(entry) for entry in entries[:QUOTED])
    last = f" … {_short(entries[-1])}" if len(entries) > QUOTED else ""
    return Finding(kind, where, f"{len(entries)} entries: {quoted}{last}")


def _short(entry: str) -> str:
    return repr(entry[:24])
