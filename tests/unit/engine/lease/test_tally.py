"""What a lease counts: sums for ever, peaks since they were last told."""

from __future__ import annotations

from penstock.engine.lease.tally import Tally


def test_batches_and_commits() -> None:
    tally = Tally()
    tally.count_batch(10, 0.5)
    tally.count_batch(4, 1.0)
    tally.count_commit(14, 140, 0.25)
    assert (tally.batches, tally.batch_seconds) == (2, 1.5)
    assert (tally.largest_batch, tally.longest_batch) == (10, 1.0)
    assert (tally.records, tally.payload_bytes, tally.transactions) == (14, 140, 1)
    assert (tally.largest_transaction, tally.longest_commit) == (14, 0.25)


def test_peaks_begin_anew_once_told_and_sums_do_not() -> None:
    tally = Tally()
    tally.count_batch(10, 0.5)
    first = Tally(**tally.tell())
    tally.count_batch(3, 0.1)
    second = Tally(**tally.tell())
    new = second.since(first)
    assert (new.batches, new.largest_batch, new.longest_batch) == (1, 3, 0.1)
    assert second.batches == 2


def test_adding_up() -> None:
    total = Tally(records=1, largest_batch=7)
    total.add(Tally(records=2, largest_batch=5, skipped=1))
    assert total == Tally(records=3, largest_batch=7, skipped=1)
