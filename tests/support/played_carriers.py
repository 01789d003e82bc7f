"""Carriers without Spark: each is a thread of the test's own process, and so are its leases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.encryption_choice import encryption
from penstock.engine.carriers.fleet import Fleet
from penstock.engine.carriers.holdings import Holdings
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.carriers.process import CarrierProcess, Patience, Summons
from waiting import eventually


class PlayedLease:
    """Ends when it is told to, with a report that says how; one that is ``stuck`` never does."""

    def __init__(self, lease_id: str, report: Callable[[str, Any], None], *, stuck: bool) -> None:
        self._lease_id, self._report, self._stuck = lease_id, report, stuck
        self._ended = False
        self.cpu_seconds = 0.0

    def heard(self, number: int) -> None:
        """It has nothing that would be lost."""

    def tell_again(self) -> None:
        """Nor here."""

    def progress(self, number: int) -> dict[str, Any]:
        """What it tells its worker."""
        return {"records": 1, "cpu_seconds": self.cpu_seconds}

    def finish(self) -> None:
        """Commit and end."""
        self._end("finished")

    def orphan(self) -> None:
        """End uncommitted."""
        self._end("orphaned")

    def _end(self, how: str) -> None:
        if not self._stuck and not self._ended:
            self._ended = True
            threading.Thread(target=self._report, args=(self._lease_id, how), daemon=True).start()


class PlayedCarrier:
    """A carrier in a thread."""

    def __init__(
        self,
        hub: Hub,
        link: Link,
        *,
        secret: str | None = None,
        unanswered: float = 10.0,
        certificate: str = "",
    ) -> None:
        patience = Patience(unanswered=unanswered, ending=0.2)
        known = secret or link.secret
        summons = Summons(hub.address, link.carrier, known, patience, certificate)
        self.left = threading.Event()
        """Set when it would have ended its process."""
        self.orders: list[dict[str, Any]] = []
        self.leases: dict[str, PlayedLease] = {}
        self.process = CarrierProcess(
            summons,
            self._hold,
            encrypt=encryption(certificate),
            leave=lambda _code: self.left.set(),
        )
        self._thread = threading.Thread(target=self.process.run, daemon=True)
        self._thread.start()

    def _hold(self, tell: Callable[[], None]) -> Holdings:
        self.holdings = Holdings(self._start, tell)
        return self.holdings

    def _start(self, lease: str, order: dict[str, Any]) -> PlayedLease:
        self.orders.append(order)
        played = PlayedLease(lease, self.holdings.report, stuck=order.get("stuck", False))
        self.leases[lease] = played
        return played

    @property
    def ended(self) -> bool:
        """Whether it has given its thread back."""
        return not self._thread.is_alive()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()


class PlayedJob:
    """What stands in for the Spark job of a carrier."""

    def __init__(self, hub: Hub, link: Link, ended: Callable[[Cause, str], None]) -> None:
        self.link = link
        self.carrier = PlayedCarrier(hub, link)
        self.cancelled = False
        self.running = True
        """Whether it has a core of Spark's."""
        self._ended = ended
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        self.carrier.join()
        self.running = False
        self._ended(Cause.ENDED, "")

    def cancel(self) -> None:
        """End it by force."""
        self.cancelled = True
        self.running = False

    def crash(self) -> None:
        """Its process ends abruptly."""
        self.running = False
        self._ended(Cause.CRASHED, "os._exit")


class WaitingJob:
    """A job for which Spark has no core."""

    def cancel(self) -> None:
        """It was never there."""


class PlayedFleet:
    """A fleet of such carriers, and a listener that remembers."""

    def __init__(self, most: int = 7, cores: int = 7) -> None:
        self.cores = cores
        """How many carriers run at a time; jobs beyond that wait."""
        self.hub = Hub("127.0.0.1")
        self.jobs: list[PlayedJob] = []
        self.names: list[str] = []
        self.progress: dict[str, dict[str, Any]] = {}
        self.reports: dict[str, Any] = {}
        self.losses: dict[str, Cause] = {}
        self.blamed: list[str] = []
        self.expecting = False
        """Whether leases may come."""
        self.fleet = Fleet(self.hub, self._launch, most, dict, expecting=lambda: self.expecting)

    def _launch(
        self, link: Link, name: str, ended: Callable[[Cause, str], None]
    ) -> PlayedJob | WaitingJob:
        self.names.append(name)
        if sum(job.running for job in self.jobs) >= self.cores:
            return WaitingJob()
        self.jobs.append(PlayedJob(self.hub, link, ended))
        return self.jobs[-1]

    def run(self, lease: str, task: str | None = None, **order: Any) -> None:
        """Give it a lease."""
        self.fleet.run(lease, task or lease, order, self)

    def holder(self, lease: str) -> PlayedJob | None:
        """The job that runs a lease."""
        holds = (j for j in self.jobs if lease in j.carrier.leases and lease in j.link.book.leases)
        return next(holds, None)

    def held(self, lease: str) -> PlayedJob:
        """The same, once some job does."""
        eventually(lambda: self.holder(lease) is not None)
        job = self.holder(lease)
        assert job is not None
        return job

    def close(self) -> None:
        """End everything."""
        self.fleet.stop()
        self.hub.close()

    # As a listener.

    def progressed(self, lease: str, told: dict[str, Any]) -> None:
        """Remember."""
        self.progress[lease] = told

    def asked(self, lease: str) -> None:
        """Let it begin."""
        self.fleet.confirm(lease)

    def reported(self, lease: str, report: Any) -> None:
        """Remember."""
        self.reports[lease] = report

    def lost(self, lease: str, cause: Cause, detail: str) -> None:
        """Remember."""
        self.losses[lease] = cause

    def guilty(self, lease: str, detail: str) -> None:
        """Remember."""
        self.blamed.append(lease)
