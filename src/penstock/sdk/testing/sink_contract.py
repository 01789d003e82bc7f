"""What every sink connector must do, as tests to inherit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from penstock.sdk.errors import RecordError
from penstock.sdk.testing.played_sink import PlayedSink, SinkUnderTest

FIRST, SECOND = range(100), range(100, 200)


class SinkContract:
    """Derive a test class from it, with a fixture ``sink`` that gives a ``SinkUnderTest``."""

    @pytest.fixture
    def sink(self) -> SinkUnderTest:
        """Override this: a new, empty target for each scenario."""
        raise NotImplementedError("define a fixture 'sink' that returns a SinkUnderTest")

    def test_what_is_flushed_is_in_the_target(self, sink: SinkUnderTest) -> None:
        worker = PlayedSink(sink)
        worker.produce(FIRST)
        worker.lease()
        assert sorted(sink.written()) == list(FIRST)

    def test_a_lease_without_records(self, sink: SinkUnderTest) -> None:
        worker = PlayedSink(sink)
        worker.lease()
        worker.produce(FIRST)
        worker.lease()
        worker.lease()
        assert sorted(sink.written()) == list(FIRST)

    def test_restart_in_the_middle(self, sink: SinkUnderTest) -> None:
        worker = PlayedSink(sink)
        worker.produce(FIRST)
        worker.lease(most=7)
        worker.produce(SECOND)
        worker.lease()
        assert sorted(sink.written()) == [*FIRST, *SECOND]

    @pytest.mark.parametrize("tolerance", ["none", "all"])
    def test_bad_record_in_the_middle(self, sink: SinkUnderTest, tolerance: str) -> None:
        """Never silence: all before it is kept, it is told which record is bad, and the rest is
        written once that one is passed over."""
        worker = PlayedSink(sink, tolerant=tolerance == "all")
        worker.produce(FIRST)
        bad = partition, offset = worker.produce_bad()
        try:
            sink.bad_value()
        except NotImplementedError:
            pytest.skip("nothing that is produced can be bad for this target")
        worker.produce(SECOND)
        if not worker.tolerant:
            with pytest.raises(RecordError):
                worker.lease()
            assert worker.refused == [bad], "another record was called bad"
            assert worker.position(partition)[0] == offset, "not all before it is committed"
            assert set(FIRST) <= set(sink.written()), "records before the bad one were lost"
            self._alter(worker, {partition: offset + 1})
        worker.lease()
        assert worker.refused == [bad], "a bad record was taken, or another one called bad"
        assert_written(worker, [*FIRST, *SECOND])

    def test_stop_while_busy(self, sink: SinkUnderTest) -> None:
        """A lease may end after any flush, and before a task has started: what is committed is in
        the target, and the next lease goes on there."""
        sink.connector.task_class().stop()
        worker = PlayedSink(sink)
        worker.produce([*FIRST, *SECOND])
        for rounds in (3, 1):
            worker.lease(most=7, rounds=rounds, flushes=1)
            lost = sorted(worker.safe() - set(sink.written()))
            assert not lost, f"committed, and not in the target: {lost}"
        worker.lease()
        assert_written(worker, [*FIRST, *SECOND])

    @pytest.mark.parametrize("change", ["back", "forward", "reset", "moved from outside"])
    def test_offsets_altered(self, sink: SinkUnderTest, change: str) -> None:
        """Set back, what was written is written again; set forward, what lies between is not.

        From outside, by Kafka's own tools, they are set back without asking the connector.
        """
        worker = PlayedSink(sink)
        worker.produce(FIRST)
        worker.lease()
        ends = {partition: worker.position(partition)[0] for partition in worker.log}
        worker.produce(SECOND)
        self._set_offsets(worker, change, ends)
        starts = {partition: worker.position(partition)[0] for partition in worker.log}
        worker.lease()
        counted = Counter(sink.written())
        for partition, numbers in worker.log.items():
            for offset, number in enumerate(numbers):
                times = (offset < ends[partition]) + (offset >= starts[partition])
                assert_times(worker, number, counted[number], times)

    def _set_offsets(self, worker: PlayedSink, change: str, ends: Mapping[int, int]) -> None:
        back = {partition: end // 2 for partition, end in ends.items()}
        if change == "back":
            self._alter(worker, back)
        if change == "forward":
            halves = {p: (end + len(worker.log[p])) // 2 for p, end in ends.items()}
            self._alter(worker, halves)
        if change == "reset":
            self._alter(worker, dict.fromkeys(ends))
        if change == "moved from outside":
            self._alter(worker, {})  # skips where offsets cannot be altered
            worker.move(back)

    @staticmethod
    def _alter(worker: PlayedSink, offsets: Mapping[int, int | None]) -> None:
        try:
            worker.alter(offsets)
        except NotImplementedError:
            pytest.skip("offsets of this sink cannot be altered")

    def test_tasks_changed(self, sink: SinkUnderTest) -> None:
        """Partitions move between tasks, in order and after a kill."""
        partitions = max(2, sink.partitions)
        worker = PlayedSink(sink, tasks=2, partitions=partitions)
        worker.produce(FIRST)
        worker.lease(most=5)
        worker.shift = 1
        worker.lease(most=5)
        worker.produce(SECOND)
        worker.tasks = 3
        worker.lease(most=5, killed_at="flush")
        # As few as can have these partitions with the guarantee.
        worker.tasks, worker.shift = -(-partitions // sink.partitions), 0
        worker.lease()
        assert_written(worker, [*FIRST, *SECOND])

    @pytest.mark.parametrize("moment", ["put", "flush"])
    def test_exactly_once_under_kill(self, sink: SinkUnderTest, moment: str) -> None:
        """Killed with records written and not committed; the next lease gets them again."""
        worker = PlayedSink(sink)
        worker.produce(FIRST)
        worker.lease(most=10)
        worker.lease(most=20, killed_at=moment)
        worker.produce(SECOND)
        worker.lease(most=30, killed_at=moment)
        worker.lease()
        assert_written(worker, [*FIRST, *SECOND])


def assert_written(worker: PlayedSink, numbers: Iterable[int]) -> None:
    """All of ``numbers`` are in the target, and nothing else; as often as its guarantee says."""
    counted, expected = Counter(worker.sink.written()), set(numbers)
    missing = sorted(expected - counted.keys())
    twice = sorted(number for number, times in counted.items() if times > 1)
    strange = sorted(counted.keys() - expected)
    assert not missing, f"records were lost: {missing}"
    assert not strange, f"these records were not expected: {strange}"
    if worker.exactly_once:
        assert not twice, (
            f"written more than once: {twice}. A connector that may do this declares "
            "Guarantee.AT_LEAST_ONCE"
        )


def assert_times(worker: PlayedSink, number: int, found: int, times: int) -> None:
    """A record that was given ``times`` times for good is in the target as often as it should."""
    least = min(times, 1) if worker.sink.replaces else times
    assert found >= least, f"{number} is there {found} times instead of {least}"
    most = times if worker.exactly_once else max(found, times) if times else 0
    assert found <= most, f"{number} is there {found} times instead of {most}"
