"""The Spark job of a carrier, inside a Python worker: one partition is one carrier."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from penstock.engine.carriers.capacity import ProcessLimits, most_leases
from penstock.engine.carriers.encryption_choice import encryption
from penstock.engine.carriers.frames import Message
from penstock.engine.carriers.holdings import Holdings
from penstock.engine.carriers.orders import decode_membership
from penstock.engine.carriers.process import CarrierProcess, Summons, process_memory
from penstock.engine.carriers.running import RunningLease
from penstock.engine.lease.lease import Membership
from penstock.engine.lease.lease_logs import change_levels, process_log

RESULT = "outcome string"
ENDED, AGAIN = "ended", "attempted again"
CONFIRM_SECONDS = 10.0

Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def stage(summons: Summons) -> Stage:
    """The function that Spark calls in a Python worker."""

    def carry(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        outcome = AGAIN if _attempted_before() else carried(summons)
        yield pa.RecordBatch.from_pydict({"outcome": [outcome]})

    return carry


def _attempted_before() -> bool:
    """A re-attempt touches nothing: its first attempt was the carrier that the worker knows."""
    context = TaskContext.get()
    return context is not None and context.attemptNumber() > 0


def carried(summons: Summons) -> str:
    """Run the carrier to its end."""
    made: list[Holdings] = []
    told, limits = Told(), ProcessLimits(summons.memory_limit)

    def extras() -> Message:
        most = most_leases(limits.now(), summons.brokers)
        return {"log": lines.take(), "vitals": _vitals(most)}

    def hold_here(tell: Callable[[], None]) -> Holdings:
        made.append(hold(tell, told))
        return made[0]

    with process_log() as lines:
        CarrierProcess(
            summons,
            hold_here,
            encrypt=encryption(summons.certificate),
            extras=extras,
            heed=told.heed,
            memory=process_memory,
        ).run()
    return ENDED


class Told:
    """What the worker tells all leases of this process."""

    membership: Membership | None = None

    def heed(self, state: Message) -> None:
        """Take it from a state of the worker."""
        if "levels" in state:
            change_levels(state["levels"])
        if state.get("membership") is not None:
            self.membership = decode_membership(state["membership"])


def hold(tell: Callable[[], None], told: Told | None = None) -> Holdings:
    """The holdings of a real carrier."""
    known = told or Told()

    def start(lease_id: str, order: dict[str, Any]) -> RunningLease:
        return RunningLease(
            lease_id,
            order,
            holdings.report,
            confirm,
            tell,
            standing=lambda: known.membership,
            leases=lambda: len(holdings),
        )

    def confirm(lease_id: str) -> bool:
        return holdings.confirm(lease_id, CONFIRM_SECONDS)

    holdings = Holdings(start, tell)
    return holdings


def _vitals(most: int) -> Message:
    return {
        "cpu_seconds": time.process_time(),
        "memory_bytes": process_memory(),
        "threads": threading.active_count(),
        "most": most,
    }
