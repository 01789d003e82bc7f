"""Rows of one batch that was split, each with its place in the original order.

A batch has one schema. A transform that changes the schema of some records only leaves two batches
behind, whose rows belong in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Some of the rows, and their places: ascending, and no place is in two parts."""

    batch: pa.RecordBatch
    places: Numbers

    @staticmethod
    def whole(batch: pa.RecordBatch) -> Part:
        """All rows, from the first place on."""
        return Part(batch, np.arange(batch.num_rows))

    def rows(self, start: int, stop: int) -> Part:
        """Consecutive rows."""
        return Part(self.batch.slice(start, stop - start), self.places[start:stop])

    def taken(self, rows: Numbers) -> Part:
        """The rows with these numbers, which are ascending."""
        return Part(self.batch.take(pa.array(rows)), self.places[rows])

    def without(self, rows: int | Sequence[int]) -> Part:
        """All other rows."""
        return self.taken(np.delete(np.arange(self.batch.num_rows), rows))

    def runs(self) -> list[tuple[int, int]]:
        """(start, stop) of rows that are neighbours: no other row has a place between them."""
        return _runs(np.diff(self.places) != 1)


def together(parts: Sequence[Part]) -> list[Part]:
    """The same rows in as few parts as their schemas allow; no empty part if there are rows."""
    alike: list[list[Part]] = []
    for part in [part for part in parts if part.batch.num_rows] or parts[:1]:
        group = next((group for group in alike if _same_schema(group[0], part)), None)
        if group is None:
            alike.append([part])
        else:
            group.append(part)
    if len(alike) == 1:
        return [Part.whole(_joined(alike[0]).batch)]
    return [_joined(group) for group in alike]


def consecutive(parts: Sequence[Part]) -> Iterator[pa.RecordBatch]:
    """The rows in order, as runs of one part each; a single part as a whole."""
    if len(parts) == 1:
        yield parts[0].batch
        return
    order = np.argsort(np.concatenate([part.places for part in parts]))
    owners = np.concatenate([np.full(len(part.places), n) for n, part in enumerate(parts)])[order]
    rows = np.concatenate([np.arange(len(part.places)) for part in parts])[order]
    for start, stop in _runs(np.diff(owners) != 0):
        # Rows of a part are ascending, so within a run they are neighbours.
        yield parts[owners[start]].batch.slice(int(rows[start]), stop - start)


def _same_schema(one: Part, other: Part) -> bool:
    return bool(one.batch.schema.equals(other.batch.schema, check_metadata=True))


def _joined(parts: Sequence[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    places = np.concatenate([part.places for part in parts])
    order = np.argsort(places)
    batch = pa.concat_batches([part.batch for part in parts])
    return Part(batch.take(pa.array(order)), places[order])


def _runs(breaks: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Rows between breaks, given for each row but the first whether it starts a new run."""
    edges = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(breaks) + 1]
    return list(pairwise(edges))
