"""Which session each row of a turn belongs to, found row by row as Kafka Streams does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from penstock.sql.planning.windows import SessionWindow

NEVER = -1


class KeptWindow(NamedTuple):
    """A window as the state has it."""

    first: int
    last: int
    key: bytes
    kept: bytes


@dataclass
class Session:
    """A session while the turn goes on: parts are of new rows, olds were kept before."""

    first: int
    last: int
    parts: list[int] = field(default_factory=list)
    olds: list[KeptWindow] = field(default_factory=list)


class Sessions:
    """The sessions of the groups of one turn."""

    def __init__(
        self,
        window: SessionWindow,
        times: Mapping[int, int],
        kept: Callable[[bytes], list[KeptWindow]],
    ) -> None:
        """``times`` are the latest of each partition so far; ``kept`` finds a group's windows."""
        self._window = window
        self._times = dict(times)
        self._newest = max(times.values(), default=NEVER)
        self._kept = kept
        self._numbers = count()
        self._groups: dict[bytes, list[Session]] = {}

    def take(self, group: bytes, time: int, partition: int) -> int | None:
        """The part of a session that a row goes into; None if it is late."""
        now = self._times[partition] = max(time, self._times.get(partition, NEVER))
        sessions, window = self._sessions(group), self._window
        begin, end = self._near(sessions, time, now)
        last = max([time, *(s.last for s in sessions[begin:end])])
        if last + window.gap + window.grace < now or last + window.lag <= self._newest:
            return None
        merged = _merged(sessions[begin:end], time)
        sessions[begin:end] = [merged]
        if not merged.parts:
            merged.parts.append(next(self._numbers))
        return merged.parts[0]

    def changed(self) -> dict[bytes, list[Session]]:
        """Of each group the sessions that new rows are in."""
        found = {group: [s for s in each if s.parts] for group, each in self._groups.items()}
        return {group: sessions for group, sessions in found.items() if sessions}

    def _sessions(self, group: bytes) -> list[Session]:
        """Those of a group in the order of time: no two of them overlap."""
        known = self._groups.get(group)
        if known is None:
            known = [Session(each.first, each.last, [], [each]) for each in self._kept(group)]
            self._groups[group] = known
        return known

    def _near(self, sessions: list[Session], time: int, now: int) -> tuple[int, int]:
        """From which to which session a row can go into, looked for from the latest.

        What is over by ``now`` takes no row, however near it is.
        """
        gap, over = self._window.gap, max(now, self._newest) - self._window.lag
        end = len(sessions)
        while end and sessions[end - 1].first > time + gap:
            end -= 1
        begin = end
        while begin and sessions[begin - 1].last >= max(time - gap, over + 1):
            begin -= 1
        return begin, end


def _merged(near: list[Session], time: int) -> Session:
    """One session of those, and a row of that time."""
    return Session(
        min([time, *(each.first for each in near)]),
        max([time, *(each.last for each in near)]),
        sorted(part for each in near for part in each.parts),
        sorted(old for each in near for old in each.olds),
    )
