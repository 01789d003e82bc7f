"""Records handed out in columns: as many, in the same order, as one by one."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.consumers.reading.columns import ColumnBatch
from penstock.consumers.reading.progress import Progress
from penstock.sdk.batches import record_batch


def run(partition: int, first: int, size: int) -> pa.RecordBatch:
    return record_batch(
        "t",
        pa.array([b"%d" % n for n in range(first, first + size)], pa.binary()),
        partition=pa.repeat(pa.scalar(partition, pa.int32()), size),
        offset=pa.array(range(first, first + size), pa.int64()),
    )


def offsets(runs: list[pa.RecordBatch]) -> list[tuple[int, int]]:
    return [
        (row["partition"], row["offset"])
        for each in runs
        for row in each.select(["partition", "offset"]).to_pylist()
    ]


@given(st.lists(st.integers(1, 5), max_size=4), st.lists(st.integers(1, 7), max_size=30))
def test_takes_of_any_size_give_everything_once(sizes: list[int], limits: list[int]) -> None:
    runs = [run(partition, 10 * partition, size) for partition, size in enumerate(sizes)]
    batch = ColumnBatch(runs, {0: 99})
    everything = offsets(runs)
    taken: list[tuple[int, int]] = []
    for limit in limits:
        part = offsets(batch.take(limit))
        assert len(part) <= limit
        taken += part
        assert batch.used_up == (len(taken) == len(everything))
        if not batch.used_up:
            assert batch.offsets(batch.given) == {p: offset + 1 for p, offset in taken}
    assert taken + offsets(batch.take()) == everything
    assert batch.offsets(batch.size).get(0) == 99


def test_run_by_run() -> None:
    batch = ColumnBatch([run(0, 0, 3), run(1, 7, 2)])
    batch.take(1)
    assert offsets([batch.take_run()]) == [(0, 1), (0, 2)]
    assert offsets([batch.take_run()]) == [(1, 7), (1, 8)]
    assert batch.used_up


@pytest.mark.parametrize("automatic", [True, False])
def test_what_was_handed_out_last_is_done_when_more_is_asked_for(automatic: bool) -> None:
    progress = Progress({0: 0, 1: 7}, automatic=automatic)
    batch = ColumnBatch([run(0, 0, 3), run(1, 7, 2)], {1: 12})
    progress.next_batch(batch)
    batch.take_run()
    assert progress.committed() == {0: 0, 1: 7}
    progress.asked_for_more()
    batch.take_run()
    assert progress.committed() == ({0: 3, 1: 7} if automatic else {0: 0, 1: 7})
    progress.asked_for_more()
    assert progress.committed() == ({0: 3, 1: 12} if automatic else {0: 0, 1: 7})
    progress.commit()
    assert progress.committed() == {0: 3, 1: 12}
