"""A lease on a thread of its carrier."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from penstock.engine.carriers.orders import decode_lease, encode_report
from penstock.engine.lease import lease_loop
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import End, Lease, Membership, Report, SinkLease, SourceLease
from penstock.engine.lease.lease_logs import logged
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.lease.traces import trace_of

log = logging.getLogger(__name__)

Reporting = Callable[[str, Any], None]
Confirming = Callable[[str], bool]


class RunningLease:
    """Implements ``Held``: runs the lease of an order to its end, and reports once."""

    def __init__(
        self,
        lease_id: str,
        order: dict[str, Any],
        report: Reporting,
        confirm: Confirming,
        tell: Callable[[], None],
        *,
        standing: Callable[[], Membership | None] = lambda: None,
        leases: Callable[[], int] = lambda: 1,
    ) -> None:
        self._lease_id = lease_id
        self._order = order
        self._report = report
        self._heartbeat = Heartbeat(
            lambda: confirm(lease_id), tell, standing=standing, leases=leases
        )
        threading.Thread(target=self._run, name=f"lease-{lease_id[:8]}", daemon=True).start()

    def progress(self, number: int) -> dict[str, Any]:
        """Its progress, for the message of that number."""
        return self._heartbeat.tell(number)

    def heard(self, number: int) -> None:
        """The worker has received the messages up to that number."""
        self._heartbeat.heard(number)

    def tell_again(self) -> None:
        """Unanswered messages may have been lost."""
        self._heartbeat.tell_again()

    def finish(self) -> None:
        """Commit what it has and end."""
        self._heartbeat.finish.set()

    def orphan(self) -> None:
        """End uncommitted."""
        self._heartbeat.orphan()

    def _run(self) -> None:
        self._heartbeat.runs_here()
        try:
            report = self._outcome()
        except BaseException as error:  # noqa: BLE001 (whatever it is, the worker must learn of it)
            report = Report(-1, self._lease_id, End.FAILED, trace=trace_of(error))
        self._report(self._lease_id, encode_report(report))

    def _outcome(self) -> Report:
        try:
            lease = decode_lease(self._order)
        except ValueError as error:  # a plugin is missing, or has another version here
            return Report(-1, self._lease_id, End.FAILED, trace=str(error))
        with logged(lease):
            return run(lease, self._heartbeat)


def run(lease: Lease, heartbeat: Heartbeat) -> Report:
    """Run a lease of either kind on this thread."""
    if isinstance(lease, SinkLease):
        return lease_loop.run(lease, SinkLoop, heartbeat)
    assert isinstance(lease, SourceLease)  # noqa: S101 (there are two kinds)
    return lease_loop.run(lease, SourceLoop, heartbeat)
