"""Runs leases on the carriers of one Spark session."""

from __future__ import annotations

from collections.abc import Callable

from penstock.engine.carriers.carrier import Cause, Listener
from penstock.engine.carriers.fleet import Fleet
from penstock.engine.carriers.frames import Message
from penstock.engine.carriers.hub import Hub
from penstock.engine.carriers.link import Link
from penstock.engine.carriers.orders import encode_lease, encode_membership
from penstock.engine.carriers.process import Summons
from penstock.engine.driver.carrier_jobs import CarrierJob
from penstock.engine.driver.frame_turns import FrameTurns
from penstock.engine.driver.session import LazySession, SparkSettings
from penstock.engine.lease.lease import Lease, Membership
from penstock.logs.levels import in_use


class Engine:
    """The leases of one worker. Thread-safe; calls return immediately."""

    def __init__(
        self,
        session: LazySession,
        standing: Callable[[], Membership | None] = lambda: None,
        *,
        carrier_bytes: int | None = None,
        brokers: int = 1,
        expecting: Callable[[], bool] = lambda: False,
    ) -> None:
        """``standing`` returns the worker's current membership, which running leases are told.

        While it is ``expecting`` leases, a carrier stays, unless it would keep others from the
        only slot, or an executor of a cluster.

        ``carrier_bytes`` is the memory limit of a carrier, 0 for none; None: half of what there is
        where it runs.
        On more ``brokers`` fewer leases share a carrier, since their clients take more.
        """
        self._carrier_bytes = carrier_bytes
        self._brokers = brokers
        self.session = session
        self._standing = standing
        self._hub, self._certificate = _hub(session.settings)
        # One slot stays free for other jobs, if there is more than one.
        most = max(1, session.settings.slots - 1)
        stays = expecting if session.settings.local and session.settings.slots > 1 else _never
        self.fleet = Fleet(self._hub, self._launch, most, self._extras, expecting=stays)
        self.fleet.start()
        self.turns = FrameTurns(session, self._hub, self._certificate)

    def run(self, lease: Lease, listener: Listener) -> None:
        """Hand over a lease; the listener hears how it ends.

        CodecError if it cannot be sent: its plugin was not found by an entry point.
        """
        task = f"{lease.connector}-{lease.task}"
        self.fleet.run(lease.lease_id, task, encode_lease(lease), listener)

    def stop(self) -> None:
        """End all carriers, Spark, and the port for carriers."""
        self.fleet.stop()
        self.session.stop()
        self._hub.close()

    def _extras(self) -> Message:
        """What every state to a carrier has, besides its leases."""
        standing = self._standing()
        return {
            "levels": in_use().to_json(),
            "membership": None if standing is None else encode_membership(standing),
        }

    def _launch(self, link: Link, name: str, ended: Callable[[Cause, str], None]) -> CarrierJob:
        summons = Summons(
            self._hub.address,
            link.carrier,
            link.secret,
            certificate=self._certificate,
            most_bytes=self._carrier_bytes,
            brokers=self._brokers,
        )
        return CarrierJob(self.session, summons, name, ended)


def _never() -> bool:
    return False


def _hub(settings: SparkSettings) -> tuple[Hub, str]:
    """The port for carriers, and the certificate with which its connections are encrypted.

    On a local master everything stays on this machine, and nothing is encrypted.
    """
    if settings.local:
        return Hub(settings.bind_host), ""
    from penstock.engine.carriers.encryption import Certificate

    made = Certificate()
    return Hub(settings.bind_host, settings.driver_host, made.encrypt), made.pem
