"""The numbers of one task under Kafka Connect's names, as Strimzi's exporter spells them.

Averages, peaks and rates are those of the last minute, and left out when nothing happened in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from penstock.engine.lease.tally import Tally
from penstock.runtime.meters.metrics import TaskMeter
from penstock.runtime.states import State

Sample = tuple[str, float]


class Seen(NamedTuple):
    """A task, read once for all its samples."""

    total: Tally
    minute: Tally
    seconds: float
    active: int
    last_error_ms: int | None
    running: float | None = None
    paused: float | None = None

    @staticmethod
    def of(meter: TaskMeter) -> Seen:
        """Read ``meter``."""
        minute, seconds = meter.last_minute()
        ratios = (meter.states.ratio(state) for state in (State.RUNNING, State.PAUSED))
        return Seen(meter.total, minute, seconds, meter.active, meter.last_error_ms, *ratios)


def common(seen: Seen) -> Iterator[Sample]:
    """What tasks of both kinds have."""
    minute = seen.minute
    if seen.running is not None and seen.paused is not None:
        yield "connector_task_running_ratio", seen.running
        yield "connector_task_pause_ratio", seen.paused
    if minute.batches:
        taken = minute.taken
        yield "connector_task_batch_size_avg", taken / minute.batches
        yield "connector_task_batch_size_max", minute.largest_batch
    if minute.transactions:
        average = minute.commit_seconds / minute.transactions
        yield "connector_task_offset_commit_avg_time_ms", average * 1000
        yield "connector_task_offset_commit_max_time_ms", minute.longest_commit * 1000
    yield "task_error_total_record_failures", seen.total.bad_records
    yield "task_error_total_record_errors", seen.total.bad_records
    yield "task_error_total_records_skipped", seen.total.skipped
    yield "task_error_total_retries", seen.total.retries
    if seen.last_error_ms is not None:
        yield "task_error_last_error_timestamp", seen.last_error_ms


def of_source(seen: Seen) -> Iterator[Sample]:
    """What a source's task has."""
    total, minute = seen.total, seen.minute
    yield "source_task_source_record_poll_total", total.taken
    yield "source_task_source_record_poll_rate", minute.taken / seen.seconds
    yield "source_task_source_record_write_total", total.given
    yield "source_task_source_record_write_rate", minute.given / seen.seconds
    yield "source_task_source_record_active_count", seen.active
    if minute.batches:
        average = minute.batch_seconds / minute.batches
        yield "source_task_poll_batch_avg_time_ms", average * 1000
        yield "source_task_poll_batch_max_time_ms", minute.longest_batch * 1000
    if minute.transactions:
        yield "source_task_transaction_size_avg", minute.records / minute.transactions
        yield "source_task_transaction_size_max", minute.largest_transaction


def of_sink(seen: Seen) -> Iterator[Sample]:
    """What a sink's task has."""
    total, minute = seen.total, seen.minute
    yield "sink_task_sink_record_read_total", total.taken
    yield "sink_task_sink_record_read_rate", minute.taken / seen.seconds
    yield "sink_task_sink_record_send_total", total.given
    yield "sink_task_sink_record_send_rate", minute.given / seen.seconds
    yield "sink_task_sink_record_active_count", seen.active
    yield "sink_task_offset_commit_seq_no", total.transactions
    yield "sink_task_offset_commit_completion_total", total.transactions
    yield "sink_task_offset_commit_completion_rate", minute.transactions / seen.seconds
    yield "task_error_deadletterqueue_produce_requests", total.dead_letters
    if minute.batches:
        average = minute.batch_seconds / minute.batches
        yield "sink_task_put_batch_avg_time_ms", average * 1000
        yield "sink_task_put_batch_max_time_ms", minute.longest_batch * 1000


KINDS: dict[str, Callable[[Seen], Iterator[Sample]]] = {"source": of_source, "sink": of_sink}
