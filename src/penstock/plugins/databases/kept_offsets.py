"""How far a sink has written, kept in the target database in the transactions of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.plugins.databases.write_session import Step, WriteSession
from penstock.sdk.errors import TakenOver, UserError
from penstock.sdk.tasks import PartitionId

OWN: Final = "penstock"
"""The text that is committed with each offset: one without it was set from outside."""
_CLAIM: Final = f"{OWN}:"
_WHERE: Final = "connector = $1 AND topic = $2 AND partition = CAST($3 AS integer)"
_DOING: Final = "keeping offsets"


def is_own(metadata: str) -> bool:
    """Whether a committed offset is one that this sink has committed."""
    return metadata == OWN or metadata.startswith(_CLAIM)


def claim(epoch: int) -> str:
    """A text of ``OWN`` that no other lease commits."""
    return f"{_CLAIM}{epoch}"


@dataclass(frozen=True)
class Rival:
    """What is stored with a greater epoch: by a later task, or before Kafka's count began again."""

    epoch: int
    next: int


@dataclass(frozen=True)
class Taken:
    """Where to go on with a partition, and the rival because of which it is not taken yet."""

    next: int
    rival: Rival | None = None


class KeptOffsets:
    """The rows of one connector. All calls are within the caller's transaction."""

    def __init__(self, session: WriteSession, table: str, connector: str) -> None:
        self._session, self._table, self._connector = session, table, connector

    def there(self) -> bool:
        """Whether the table exists."""
        asked = "SELECT to_regclass($1) IS NOT NULL AS there"
        return bool(self._session.rows(asked, [self._table], doing=_DOING)[0]["there"])

    def create(self) -> None:
        """Make the table, unless it is there."""
        if self.there():
            return
        made = (
            f"CREATE TABLE IF NOT EXISTS {self._table} (connector text NOT NULL, "
            "topic text NOT NULL, partition integer NOT NULL, next bigint NOT NULL, "
            "epoch bigint NOT NULL, PRIMARY KEY (connector, topic, partition))"
        )
        error = self._session.attempt(Step([made]))
        if error is not None and not self.there():
            told = self._session.translated(error, f"creating table {self._table}")
            raise UserError(
                f"{told}. Let the user create tables, or create this one for it and name it in "
                "'offsets.table'."
            )

    def take(self, position: PartitionId, offset: int, metadata: str, epoch: int) -> Taken:
        """Take a partition over, unless a greater epoch is stored.

        The consumer group's ``offset`` rules, unless this sink committed it and has written more
        since: then it was ended between the two commits, and those records are in the table.
        """
        own = is_own(metadata)
        kept = "GREATEST(o.next, EXCLUDED.next)" if own else "EXCLUDED.next"
        taken = self._session.rows(
            f"INSERT INTO {self._table} AS o (connector, topic, partition, next, epoch) "
            "VALUES ($1, $2, CAST($3 AS integer), $4, $5) "
            f"ON CONFLICT (connector, topic, partition) DO UPDATE SET next = {kept}, "
            "epoch = EXCLUDED.epoch WHERE o.epoch <= EXCLUDED.epoch RETURNING next",
            [*self._key(position), offset, epoch],
            doing=_DOING,
        )
        if taken:
            return Taken(int(taken[0]["next"]))
        found = self._session.rows(
            f"SELECT next, epoch FROM {self._table} WHERE {_WHERE}",
            self._key(position),
            doing=_DOING,
        )
        if not found:
            raise TakenOver(f"the offset of {position[0]}-{position[1]} was just deleted")
        rival = Rival(int(found[0]["epoch"]), int(found[0]["next"]))
        return Taken(max(offset, rival.next) if own else offset, rival)

    def claim(self, position: PartitionId, start: int, rival: Rival, epoch: int) -> None:
        """Take a partition from a rival; ``TakenOver`` if that has written meanwhile.

        Only for a task that knows that it is the present one: then Kafka's count of epochs has
        begun again.
        """
        claimed = self._session.rows(
            f"UPDATE {self._table} SET next = $4, epoch = $5 WHERE {_WHERE} AND epoch = $6 "
            "AND next = $7 RETURNING next",
            [*self._key(position), start, epoch, rival.epoch, rival.next],
            doing=_DOING,
        )
        if not claimed:
            raise TakenOver(f"{position[0]}-{position[1]} is written by another task")

    def move(self, moves: Mapping[PartitionId, tuple[int, int]], epoch: int) -> None:
        """From start to end, for each partition; ``TakenOver`` if one is not at its start."""
        for position, (start, end) in moves.items():
            moved = self._session.rows(
                f"UPDATE {self._table} SET next = $4, epoch = $6 WHERE {_WHERE} "
                "AND next = $5 AND epoch = $6 RETURNING next",
                [*self._key(position), end, start, epoch],
                doing=_DOING,
            )
            if not moved:
                raise TakenOver(f"{position[0]}-{position[1]} was written by another task")

    def rewind(self, offsets: Mapping[PartitionId, int | None]) -> None:
        """Offsets that a user sets: a lower one counts; without one the row is forgotten.

        A higher one needs nothing: the group's offset rules, once it is committed.
        """
        for position, offset in offsets.items():
            if offset is None:
                sql, more = f"DELETE FROM {self._table} WHERE {_WHERE}", []
            else:
                sql = f"UPDATE {self._table} SET next = LEAST(next, $4), epoch = 0 WHERE {_WHERE}"
                more = [offset]
            self._session.rows(f"{sql} RETURNING next", [*self._key(position), *more], doing=_DOING)

    def _key(self, position: PartitionId) -> list[Any]:
        return [self._connector, *position]
