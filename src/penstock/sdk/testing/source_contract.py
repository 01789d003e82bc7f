"""What every source connector must do, as tests to inherit."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from typing import Any, ClassVar

import pytest

from penstock.sdk.errors import PenstockError
from penstock.sdk.offsets import canonical
from penstock.sdk.testing.played_source import Lease, PlayedSource, SourceUnderTest

FIRST, SECOND = range(100), range(100, 200)


class SourceContract:
    """Derive a test class from it, with a fixture ``source`` that gives a ``SourceUnderTest``."""

    patience: ClassVar[float] = 60.0
    """Seconds that a running task has to notice what was added to its source."""

    @pytest.fixture
    def source(self) -> SourceUnderTest:
        """Override this: a new, empty source for each scenario."""
        raise NotImplementedError("define a fixture 'source' that returns a SourceUnderTest")

    def test_an_empty_source_has_no_records(self, source: SourceUnderTest) -> None:
        worker = PlayedSource(source)
        worker.turn()
        assert worker.delivered == []

    def test_everything_comes_in_order(self, source: SourceUnderTest) -> None:
        source.write(FIRST)
        worker = PlayedSource(source)
        worker.turn()
        assert worker.delivered == list(FIRST)

    def test_a_look_sees_what_is_new_and_only_that(self, source: SourceUnderTest) -> None:
        worker = PlayedSource(source)
        source.write(FIRST)
        assert worker.look() is not False, "look says False while records wait"
        worker.turn()
        assert not worker.look(), "look says True although everything was read"
        source.write(SECOND)
        assert worker.look() is not False, "look says False while records wait"

    def test_restart_in_the_middle(self, source: SourceUnderTest) -> None:
        source.write(FIRST)
        worker = PlayedSource(source)
        worker.turn(polls=1)
        worker.turn()
        assert_all_once(worker, FIRST)

    def test_append_after_restart(self, source: SourceUnderTest) -> None:
        source.write(FIRST)
        worker = PlayedSource(source)
        worker.turn()
        worker.turn()
        assert_all_once(worker, FIRST)
        source.write(SECOND)
        worker.turn()
        assert_all_once(worker, [*FIRST, *SECOND])

    def test_append_while_it_runs(self, source: SourceUnderTest) -> None:
        """A task that was dry goes on without being made again."""
        if not source.finds_more:
            pytest.skip("what is added while a task runs is for the next turn")
        worker = PlayedSource(source)
        connector = source.connector()
        connector.start(dict(source.config()))
        (config, *_) = worker.task_configs(connector)
        lease = Lease(worker, config)
        try:
            lease.run(0, killed=True)
            for part in (FIRST, SECOND):
                self._run_dry(worker, lease)
                source.write(part)
                self._read_until(worker, lease, part[-1], self.patience)
        finally:
            lease.task.stop()
            connector.stop()
        assert_all_once(worker, [*FIRST, *SECOND])

    @staticmethod
    def _run_dry(worker: PlayedSource, lease: Lease) -> None:
        """Offsets may still come behind the last record, but no records."""
        read = list(worker.delivered)
        while batches := lease.next_batches():
            lease.commit(batches)
            assert worker.delivered == read, "the task is not dry although all was read"

    @staticmethod
    def _read_until(worker: PlayedSource, lease: Lease, last: int, patience: float) -> None:
        until = time.monotonic() + patience
        while last not in worker.delivered:
            lease.commit(lease.next_batches())
            assert time.monotonic() < until, f"record {last} did not come while the task ran on"

    def test_bad_record_in_the_middle(self, source: SourceUnderTest) -> None:
        """Never silence: what comes before is delivered, then the status says what is wrong."""
        source.write(FIRST)
        try:
            source.spoil()
        except NotImplementedError:
            pytest.skip("nothing that is written to this source can be bad")
        source.write(SECOND)
        worker = PlayedSource(source)
        with pytest.raises(PenstockError):
            worker.turn()
        with contextlib.suppress(PenstockError):
            worker.turn()
        assert_all_once(worker, [n for n in [*FIRST, *SECOND] if n in worker.delivered])
        assert set(FIRST) <= set(worker.delivered), "records before the bad one are missing"

    def test_bad_record_passed_over(self, source: SourceUnderTest) -> None:
        """With ``errors.tolerance=all`` it is told once, and what is behind it comes.

        Unless the connector fails as ever: what is damaged may be more than a record.
        """
        source.write(FIRST)
        try:
            source.spoil()
        except NotImplementedError:
            pytest.skip("nothing that is written to this source can be bad")
        source.write(SECOND)
        worker = PlayedSource(source, more={"errors.tolerance": "all"})
        try:
            worker.turn()
            told = len(worker.letters)
            worker.turn()
        except PenstockError as error:
            pytest.skip(f"more than a record is bad, and nothing is passed over: {error}")
        assert_all_once(worker, [*FIRST, *SECOND])
        assert told, "nothing tells of the bad record"
        assert len(worker.letters) == told, "the bad record comes again with every turn"

    def test_stop_while_busy(self, source: SourceUnderTest) -> None:
        """What was taken is committed, nothing else is, and the next lease goes on there."""
        source.write([*FIRST, *SECOND])
        worker = PlayedSource(source)
        worker.turn(polls=0)
        worker.turn(polls=1)
        taken = list(worker.delivered)
        assert taken == list(range(len(taken)))
        worker.turn()
        assert_all_once(worker, [*FIRST, *SECOND])

    def test_offsets_altered(self, source: SourceUnderTest) -> None:
        """Back to any state that was committed, or to none."""
        source.write(FIRST)
        worker = PlayedSource(source)
        worker.turn(polls=1)
        middle, read = worker.offsets, len(worker.delivered)
        worker.turn()
        for offsets, rest in ((middle, list(FIRST)[read:]), ({}, list(FIRST))):
            self._alter(worker, offsets)
            worker.delivered = []
            worker.turn()
            assert_all_once(worker, rest)

    @staticmethod
    def _alter(worker: PlayedSource, offsets: dict[str, Any]) -> None:
        gone = [(p, None) for p, _ in worker.offsets.values() if canonical(p) not in offsets]
        request = [*offsets.values(), *gone]
        try:
            worker.source.connector().alter_offsets(dict(worker.source.config()), request)
        except NotImplementedError:
            pytest.skip("offsets of this source cannot be altered")
        worker.offsets = offsets

    def test_tasks_changed(self, source: SourceUnderTest) -> None:
        """Another ``tasks.max`` neither loses nor repeats."""
        source.write(FIRST)
        worker = PlayedSource(source, tasks=2)
        worker.turn(polls=1)
        for tasks, numbers in ((3, SECOND), (1, range(200, 300))):
            source.write(numbers)
            worker.tasks = tasks
            worker.turn()
        assert_all_once(worker, range(300))

    @pytest.mark.parametrize("polls", [1, 2, 3])
    def test_exactly_once_under_kill(self, source: SourceUnderTest, polls: int) -> None:
        """Killed with records produced and not committed, again and again."""
        worker = PlayedSource(source)
        for numbers in (FIRST, SECOND):
            source.write(numbers)
            worker.turn(polls=polls, killed=True)
            worker.turn(polls=1)
        worker.turn()
        assert set(worker.delivered) == {*FIRST, *SECOND}, "records were lost"
        if worker.exactly_once:
            assert_all_once(worker, [*FIRST, *SECOND])


def assert_all_once(worker: PlayedSource, numbers: Any) -> None:
    """All of ``numbers`` were delivered, none twice and nothing else."""
    counted, expected = Counter(worker.delivered), set(numbers)
    missing = sorted(expected - counted.keys())
    twice = sorted(number for number, times in counted.items() if times > 1)
    strange = sorted(counted.keys() - expected)
    assert not missing, f"these records are missing: {missing}"
    assert not twice, f"these records were delivered more than once: {twice}"
    assert not strange, f"these records were not expected: {strange}"
