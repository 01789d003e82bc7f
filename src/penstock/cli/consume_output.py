"""Records from a consumer to standard output; what is written there counts as read."""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from penstock.cli.output import warn
from penstock.cli.record_printing import Form, Printer
from penstock.cli.signals import StoppingSignals
from penstock.cli.silence import Silence

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.consumers import Consumer, Record

T = TypeVar("T")
PATIENCE = 0.2
"""Seconds between two checks whether the output is still read."""


UNIT = 4096
"""Records that are written, and then count as read, together."""
PIPE_CHUNK = select.PIPE_BUF
"""What a pipe that has room takes without keeping us waiting."""
FILE_CHUNK = 1024 * 1024


class Ending(Enum):
    """Why no more is written."""

    DONE = auto()
    """All that was asked for was written."""
    STOPPED = auto()
    """By Ctrl-C or SIGTERM."""
    UNHEARD = auto()
    """The program that read our output has closed it."""


class Rows:
    """Records taken and printed one by one."""

    def __init__(self, print_records: Printer) -> None:
        self.print = print_records
        self.count: Callable[[list[Record]], int] = len

    def take(self, consumer: Consumer, limit: int) -> list[Record] | None:
        """The next records; see ``Consumer.take``."""
        return consumer.take(limit, patience=PATIENCE)


class Columns:
    """Values only, taken and printed as columns: for much."""

    def __init__(self, form: Form) -> None:
        from penstock.cli.record_columns import spare_pandas

        self._form = form
        spare_pandas()

    def take(self, consumer: Consumer, limit: int) -> list[pa.RecordBatch] | None:
        """The next records; see ``Consumer.take_arrow``."""
        return consumer.take_arrow(limit, patience=PATIENCE, timestamps=False)

    def count(self, batches: list[pa.RecordBatch]) -> int:
        """How many records these are."""
        return sum(batch.num_rows for batch in batches)

    def print(self, batches: list[pa.RecordBatch]) -> bytes:
        """What to write for them."""
        from penstock.cli.record_columns import print_values

        return print_values(self._form, batches)


@dataclass
class Pump:
    """Moves records; a batch is committed when all of it was written and handed to the system.

    So what was not written comes again under the same name, and what the system took counts as
    read, even if the program behind the pipe ends without looking at it. With ``at_end`` nothing is
    committed before all that was asked for was written.
    """

    consumer: Consumer
    style: Rows | Columns
    out: BinaryIO
    named: bool = False
    at_end: bool = False
    limit: int | None = None
    silence: Silence | None = None
    """Without a name only: storing positions notices a missing broker."""

    def run(self, stopping: StoppingSignals) -> Ending:
        """Go on until one of the endings."""
        try:
            ending = self._run(stopping)
            if ending is Ending.DONE and self.named:
                self._commit(stopping)
        except BrokenPipeError:
            ending = Ending.UNHEARD
        except KeyboardInterrupt:
            ending = Ending.STOPPED
        if ending is not Ending.DONE:
            discard(self.out)
        return ending

    def _run(self, stopping: StoppingSignals) -> Ending:
        left = self.limit
        while not stopping.asked and left != 0:
            records = self._take(left, stopping)
            if records is None:
                return Ending.DONE
            if not records and unheard(self.out):
                return Ending.UNHEARD
            self._listen(nothing=not records)
            self._write(records, stopping)
            left = None if left is None else left - self.style.count(records)
        return Ending.DONE if left == 0 else Ending.STOPPED

    def _listen(self, *, nothing: bool) -> None:
        if self.silence is not None:
            self.silence.goes_on() if nothing else self.silence.broken()

    def _take(self, limit: int | None, stopping: StoppingSignals) -> list[Any] | None:
        size = UNIT if limit is None else min(limit, UNIT)
        return _patiently(lambda: self.style.take(self.consumer, size), stopping)

    def _commit(self, stopping: StoppingSignals) -> None:
        _patiently(self.consumer.commit, stopping)

    def _write(self, records: list[Any], stopping: StoppingSignals) -> None:
        if records:
            write_all(self.out, self.style.print(records), stopping)
        if self.named and not self.at_end:
            self._commit(stopping)


def _patiently(call: Callable[[], T], stopping: StoppingSignals) -> T:
    """Its answer. If positions could not be stored, that is printed, and it is tried again.

    KeyboardInterrupt if that goes on and a stop is requested. What was committed stays so.
    """
    from penstock.consumers import FlushFailed

    while True:
        try:
            return call()
        except FlushFailed as error:
            warn(str(error))
            if stopping.asked:
                raise KeyboardInterrupt from error


def write_all(out: BinaryIO, data: bytes, stopping: StoppingSignals) -> None:
    """Return when the system has taken all of it; KeyboardInterrupt if it takes no more and a stop
    is requested.

    Nothing interrupts a write: it would not be known then how much of it was taken.
    """
    try:
        number = out.fileno()
    except (io.UnsupportedOperation, ValueError):
        out.write(data)
        return
    out.flush()
    size = FILE_CHUNK if stat.S_ISREG(os.fstat(number).st_mode) else PIPE_CHUNK
    ready = select.poll()
    ready.register(number, select.POLLOUT)
    left = memoryview(data)
    while left:
        if ready.poll(PATIENCE * 1000):
            left = left[os.write(number, left[:size]) :]
        elif stopping.asked:
            raise KeyboardInterrupt


def unheard(out: BinaryIO) -> bool:
    """Whether the program behind our pipe has ended."""
    try:
        watch = select.poll()
        watch.register(out.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in watch.poll(0))
    except (io.UnsupportedOperation, ValueError):
        return False


def discard(out: BinaryIO) -> None:
    """Send what is still in our buffers nowhere: Python would write it, and wait, at its end."""
    try:
        number = out.fileno()
    except (io.UnsupportedOperation, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
