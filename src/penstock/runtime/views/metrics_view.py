"""A connector's numbers as JSON: rates, times, errors, restarts, and positions.

An extension of Kafka Connect's API. Rates, averages and peaks are those of the last minute, null
if nothing happened in it. Counts are this worker's and start at zero with its process.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.engine.carriers.fleet import Fleet
from penstock.engine.lease.lease import End
from penstock.engine.lease.tally import Tally
from penstock.runtime.meters.losses import Losses
from penstock.runtime.meters.metrics import AutoRestarts, TaskMeter
from penstock.runtime.offset_requests import source_entry
from penstock.runtime.running.context import Context
from penstock.runtime.views.sink_lags import PartitionLag
from penstock.runtime.views.spark_view import spark_of
from penstock.runtime.views.watched import Watch, Watched

POSITIONS_SHOWN = 100
"""A source may have very many partitions; all of them are at ``/offsets``."""


class MetricsView:
    """Read-only answers, from memory and a lag that is at most two seconds old. Thread-safe."""

    def __init__(self, context: Context, watch: Watch) -> None:
        self._context = context
        self._watch = watch

    @property
    def _fleet(self) -> Fleet:
        return self._context.engine.fleet

    def metrics(self, name: str) -> dict[str, Any]:
        """The numbers of one connector; NotFound if there is none."""
        watched = self._watch.one(name)
        carriers = {task: each.name for each in self._fleet.seen() for task in each.tasks}
        meters = {task: watched.meter.task(task) for task in watched.tasks}
        shown = {
            "name": name,
            "type": watched.type,
            "worker_id": watched.status.worker_id,
            **self._spark(watched),
            "state": watched.status.state.value,
            **_rates(list(meters.values())),
            "looks": watched.meter.looks,
            "turns": watched.meter.turns,
            "broken_turns": watched.meter.broken_turns,
            "waiting_seconds": round(watched.meter.waits.seconds, 3),
            "restarts": watched.meter.restarts,
            "auto_restart": _auto_restart(watched.meter.auto_restarts),
            "tasks": [
                {
                    "id": task,
                    "state": watched.tasks[task].state.value,
                    "carrier": carriers.get(f"{name}-{task}"),
                    **_task(task, meter, watched.meter.losses),
                }
                for task, meter in meters.items()
            ],
        }
        return {**shown, **self._standing(watched)}

    def _spark(self, watched: Watched) -> dict[str, str]:
        """Only the worker that runs the connector knows."""
        here = watched.status.worker_id == self._context.worker_id
        return spark_of(self._context) if here else {}

    def _standing(self, watched: Watched) -> dict[str, Any]:
        """A sink's lag, null while unknown; a source's position."""
        if watched.type == "sink":
            return {"lag": None if watched.lags is None else _lag(watched.lags)}
        entries = self._context.offsets.of(watched.name)
        cls = watched.plugin.cls if watched.plugin else None
        shown = [source_entry(cls, p, o) for _, p, o in entries[:POSITIONS_SHOWN]]
        return {"position": {"partition_count": len(entries), "partitions": shown}}


def _rates(meters: list[TaskMeter]) -> dict[str, Any]:
    minutes = [meter.last_minute() for meter in meters]
    records = sum(tally.records / seconds for tally, seconds in minutes)
    size = sum(tally.payload_bytes / seconds for tally, seconds in minutes)
    return {
        "records_total": sum(meter.total.records for meter in meters),
        "bytes_total": sum(meter.total.payload_bytes for meter in meters),
        "records_per_second": round(records, 3),
        "bytes_per_second": round(size, 3),
    }


def _task(task: int, meter: TaskMeter, losses: Losses) -> dict[str, Any]:
    minute, _ = meter.last_minute()
    total = meter.total
    return {
        **_rates([meter]),
        "active_records": meter.active,
        "batch": {
            "average_size": _per(minute.taken, minute.batches),
            "largest_size": minute.largest_batch if minute.batches else None,
            "average_ms": _per(minute.batch_seconds * 1000, minute.batches),
            "longest_ms": _ms(minute.longest_batch) if minute.batches else None,
        },
        "commit": {
            "count": total.transactions,
            "average_ms": _per(minute.commit_seconds * 1000, minute.transactions),
            "longest_ms": _ms(minute.longest_commit) if minute.transactions else None,
        },
        "errors": _errors(total, meter.ends, meter.last_error_ms),
        "leases": {str(end): count for end, count in dict(meter.ends).items()},
        "lost_leases": {
            "reasons": {str(reason): count for reason, count in dict(meter.lost).items()},
            "in_a_row": losses.in_a_row(task),
            "standstill_seconds": round(losses.seconds(task), 3),
        },
    }


def _errors(total: Tally, ends: Counter[End], last_ms: int | None) -> dict[str, Any]:
    return {
        "bad_records": total.bad_records,
        "skipped": total.skipped,
        "dead_letters": total.dead_letters,
        "retries": total.retries,
        "aborted_transactions": total.aborts,
        "failures": ends[End.FAILED],
        "last_error_timestamp": last_ms,
    }


def _auto_restart(state: AutoRestarts) -> dict[str, Any]:
    return {"count": state.count, "last_restart_timestamp": state.last_ms}


def _lag(lags: list[PartitionLag]) -> dict[str, Any]:
    return {
        "total": sum(each.lag for each in lags),
        "max": max((each.lag for each in lags), default=0),
        "partitions": [
            {
                "topic": each.topic,
                "partition": each.partition,
                "offset": each.offset,
                "end": each.end,
                "lag": each.lag,
            }
            for each in lags
        ],
    }


def _per(amount: float, times: int) -> float | None:
    return round(amount / times, 3) if times else None


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
