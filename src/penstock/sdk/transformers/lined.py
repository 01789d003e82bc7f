"""What formats of one record a line share, and others that are cut into records before all else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from penstock.sdk.objects import ObjectContext
from penstock.sdk.transformers.streams import line_blocks, reading
from penstock.sdk.transformers.transformer import (
    ArrowTransformer,
    OnBad,
    TransformedColumns,
    bad_record,
    tolerate,
)


class LinedTransformer(ArrowTransformer):
    """Each line is a record."""

    field: pa.Field
    """Of the values."""

    @abstractmethod
    def lines_of(self, block: list[bytes]) -> list[bytes]:
        """Those lines of a block that are records."""

    @abstractmethod
    def array(self, lines: list[bytes]) -> pa.Array:
        """A column of these lines; ValueError says what is wrong with one of them."""

    def blocks(self, stream: BinaryIO) -> Iterator[list[bytes]]:
        """The lines, some of them at a time."""
        return line_blocks(stream)

    def made(self, lines: list[bytes], position: int) -> TransformedColumns:
        """The records of these lines; ``position`` is that of the last. Errors as of ``array``."""
        return TransformedColumns(self.array(lines), self.field, position)

    def columns(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedColumns]:
        """A block's lines at a time."""
        position = 0
        with reading(context, lambda: position):
            for block in self.blocks(stream):
                lines = self.lines_of(block)
                first = position + 1
                position += len(lines)
                if position > skip:
                    known = max(0, skip - first + 1)
                    yield from self._runs(lines[known:], first + known, context, bad)

    def _runs(
        self, lines: list[bytes], first: int, context: ObjectContext, bad: OnBad | None
    ) -> Iterator[TransformedColumns]:
        """The lines as one batch, or as those between the bad ones."""
        try:
            yield self.made(lines, first + len(lines) - 1)
            return
        except ValueError:
            pass  # one of them, to be found now
        good: list[bytes] = []
        for position, line in enumerate(lines, first):
            try:
                self.made([line], position)
                good.append(line)
            except ValueError as error:
                if good:
                    yield self.made(good, position - 1)
                good = []
                tolerate(bad, bad_record(context, position, str(error)), line)
        if good:
            yield self.made(good, first + len(lines) - 1)
