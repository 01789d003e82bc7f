"""What every sink connector must do, as tests to inherit."""

from __future__ import annotations

from collections import Counter

import pytest

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

    @pytest.mark.parametrize("moment", ["put", "flush"])
    def test_exactly_once_under_kill(self, sink: SinkUnderTest, moment: str) -> None:
        """Killed with records written and not committed; the next lease gets them again."""
        worker = PlayedSink(sink)
        # A worker commits where the target stands before its first record, for this very case.
        worker.lease()
        worker.produce(FIRST)
        worker.lease(most=10)
        worker.lease(most=20, killed_at=moment)
        worker.produce(SECOND)
        worker.lease(most=30, killed_at=moment)
        worker.lease()
        counted = Counter(sink.written())
        assert set(counted) == {*FIRST, *SECOND}, "records were lost"
        if sink.exactly_once:
            twice = sorted(number for number, times in counted.items() if times > 1)
            assert not twice, f"written more than once: {twice}"
