"""What of the records that were read counts as read, however it ends."""

from __future__ import annotations

import io
import os
import select
import signal
import threading
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

import pytest
from confluent_kafka import Message

from penstock.cli.consume_output import UNIT, Ending, Pump, Rows, unheard
from penstock.cli.record_printing import print_raw
from penstock.cli.signals import StoppingSignals
from penstock.consumers import Consumer, FlushFailed, Record
from waiting import eventually


class FakeConsumer:
    """Hands out batches; an exception among them is raised."""

    def __init__(self, *batches: Sequence[int] | Exception) -> None:
        self._batches = list(batches)
        self.handed = 0
        self.committed = 0
        self.commits = 0

    def take(self, limit: int | None = None, *, patience: float | None = None) -> Any:
        if not self._batches:
            return None
        batch = self._batches.pop(0)
        if isinstance(batch, Exception):
            raise batch
        if limit is not None and limit < len(batch):
            self._batches.insert(0, batch[limit:])
            batch = batch[:limit]
        self.handed += len(batch)
        return [Record(Message(value=b"%d" % n, offset=n)) for n in batch]

    def commit(self) -> None:
        self.commits += 1
        self.committed = self.handed


class Sink(io.BytesIO):
    """Takes so many writes, then fails."""

    def __init__(self, writes: int, failure: type[BaseException]) -> None:
        super().__init__()
        self._left = writes
        self._failure = failure

    def write(self, data: Any) -> int:
        if not self._left:
            raise self._failure
        self._left -= 1
        return super().write(data)


def pump(source: FakeConsumer, out: BinaryIO | None = None, **options: Any) -> Pump:
    options.setdefault("named", True)
    return Pump(cast(Consumer, source), Rows(print_raw), out or io.BytesIO(), **options)


def test_everything_is_committed_at_the_end() -> None:
    source, out = FakeConsumer([0, 1], [], [2]), io.BytesIO()
    assert pump(source, out).run(StoppingSignals()) is Ending.DONE
    assert out.getvalue() == b"0\n1\n2\n"
    assert source.committed == 3


def test_a_limit_commits_just_what_was_printed() -> None:
    source, out = FakeConsumer([0, 1], [2, 3, 4]), io.BytesIO()
    assert pump(source, out, limit=3).run(StoppingSignals()) is Ending.DONE
    assert out.getvalue() == b"0\n1\n2\n"
    assert source.committed == 3


@pytest.mark.parametrize(
    ("failure", "ending"),
    [(BrokenPipeError, Ending.UNHEARD), (KeyboardInterrupt, Ending.STOPPED)],
)
def test_a_batch_that_was_not_written_is_not_committed(
    failure: type[BaseException], ending: Ending
) -> None:
    source = FakeConsumer([0, 1], [2], [3])
    assert pump(source, Sink(1, failure)).run(StoppingSignals()) is ending
    assert (source.handed, source.committed) == (3, 2)


def test_manual_commits_nothing_before_the_end() -> None:
    broken = FakeConsumer([0, 1], [2])
    assert (
        pump(broken, Sink(1, BrokenPipeError), at_end=True).run(StoppingSignals()) is Ending.UNHEARD
    )
    assert broken.commits == 0
    whole = FakeConsumer([0, 1], [2])
    assert pump(whole, at_end=True).run(StoppingSignals()) is Ending.DONE
    assert (whole.commits, whole.committed) == (1, 3)


def test_without_a_name_nothing_is_committed() -> None:
    source = FakeConsumer([0])
    assert pump(source, named=False).run(StoppingSignals()) is Ending.DONE
    assert source.commits == 0


def test_a_failed_flush_is_told_and_it_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    source = FakeConsumer([0], FlushFailed("not stored"), [1])
    assert pump(source).run(StoppingSignals()) is Ending.DONE
    assert source.committed == 2
    assert capsys.readouterr().err == "not stored\n"


def test_a_failed_flush_that_a_commit_tells_of_does_not_end_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Flaky(FakeConsumer):
        def commit(self) -> None:
            if not self.commits:
                self.commits = 1
                raise FlushFailed("not stored")
            super().commit()

    source = Flaky([0], [1])
    assert pump(source).run(StoppingSignals()) is Ending.DONE
    assert source.committed == 2
    assert capsys.readouterr().err == "not stored\n"


def test_a_signal_ends_it_while_nothing_can_be_stored() -> None:
    class Away(FakeConsumer):
        def take(self, limit: int | None = None, *, patience: float | None = None) -> Any:
            os.kill(os.getpid(), signal.SIGTERM)
            raise FlushFailed("cannot reach the brokers")

    with StoppingSignals() as stopping:
        assert pump(Away([0])).run(stopping) is Ending.STOPPED


def test_a_signal_ends_it_while_the_end_cannot_be_stored() -> None:
    class Away(FakeConsumer):
        def commit(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            raise FlushFailed("cannot reach the brokers")

    with StoppingSignals() as stopping:
        assert pump(Away([0]), at_end=True).run(stopping) is Ending.STOPPED


def test_a_signal_ends_it_between_two_batches() -> None:
    class Signalled(FakeConsumer):
        def take(self, limit: int | None = None, *, patience: float | None = None) -> Any:
            os.kill(os.getpid(), signal.SIGTERM)
            return super().take(limit, patience=patience)

    source, out = Signalled([0, 1], [2]), io.BytesIO()
    with StoppingSignals() as stopping:
        assert pump(source, out, limit=5).run(stopping) is Ending.STOPPED
    # What was taken when the signal came is printed and committed, the next batch is not.
    assert (out.getvalue(), source.committed) == (b"0\n1\n", 2)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def when_full(pipe: int) -> None:
    eventually(lambda: not select.select([], [pipe], [], 0)[1], what="a pipe that is full")


def close_when_full(read: int, write: int) -> None:
    when_full(write)
    os.close(read)


def test_an_unbuffered_pipe_that_takes_only_a_part() -> None:
    read, write = os.pipe()
    source = FakeConsumer(range(100_000))
    closing = threading.Thread(target=close_when_full, args=[read, write])
    closing.start()
    with os.fdopen(write, "wb", buffering=0) as out:
        assert pump(source, cast(BinaryIO, out)).run(StoppingSignals()) is Ending.UNHEARD
    closing.join()
    assert source.handed - source.committed == UNIT, "the last was not written as a whole"


def interrupt_when_full(pipe: int) -> None:
    when_full(pipe)
    os.kill(os.getpid(), signal.SIGINT)


def test_a_signal_ends_a_write_that_nobody_reads() -> None:
    read, write = os.pipe()
    source = FakeConsumer(range(100_000))
    with StoppingSignals() as stopping, os.fdopen(write, "wb") as out:
        threading.Thread(target=interrupt_when_full, args=[write]).start()
        assert pump(source, out).run(stopping) is Ending.STOPPED
    os.close(read)
    assert source.handed - source.committed == UNIT, "the last was not written as a whole"


def test_a_closed_pipe_is_noticed_without_writing() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as out:
        assert not unheard(out)
        os.close(read)
        assert unheard(out)
        assert pump(FakeConsumer([], [1]), out).run(StoppingSignals()) is Ending.UNHEARD
    assert not unheard(io.BytesIO())
