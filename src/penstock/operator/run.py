"""An operator's life: wait for the Lease, watch, shut down in order."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from penstock.kube import KubeApi, KubeConfig
from penstock.operator.controller import Controller
from penstock.operator.health import HealthServer
from penstock.operator.home import Options
from penstock.operator.lease import Leadership
from penstock.operator.metrics import Metrics
from penstock.operator.names import API_VERSION, CONNECTOR, OFFSETS, PLURALS
from penstock.operator.strimzi import drops_offsets
from penstock.operator.watch import watch
from penstock.sdk.errors import UserError

LEASE = "penstock-operator"
STRIMZIS_KIND = (
    "KafkaConnector is Strimzi's own kind here: it would lose showOffsets, and two operators would "
    "change the same resources. Start with --beside-strimzi, which serves KafkaConnectorOffsets "
    "alone. Where Strimzi does not run, install our kinds instead: `penstock operator manifests "
    "--crds | kubectl apply --server-side --force-conflicts -f -`."
)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What `penstock operator` was told. No namespaces: all of them.

    ``beside_strimzi``: connectors and clusters are Strimzi's, and only read; offsets are ours.
    """

    kube: KubeConfig
    namespaces: Sequence[str] = ()
    period_seconds: float = 120.0
    health_host: str = "127.0.0.1"
    health_port: int = 0
    lead: bool = True
    beside_strimzi: bool = False
    options: Options = field(default_factory=Options)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that are looked after."""
        return (OFFSETS,) if self.beside_strimzi else tuple(PLURALS)


class Operator:
    """Call `run` once; it returns after ``stopped`` is set. ``say`` hears what it is at."""

    def __init__(
        self, settings: Settings, stopped: threading.Event, say: Callable[[str], None]
    ) -> None:
        self._settings, self._stopped, self._say = settings, stopped, say
        self._metrics = Metrics()
        self._api = KubeApi(settings.kube, self._count)
        self._lost = threading.Event()

    def run(self) -> bool:
        """Work until stopped; False if the Lease or the watch was lost, so that it must restart."""
        settings = self._settings
        host, port = settings.health_host, settings.health_port
        health = HealthServer(host, port, self._metrics, lambda: not self._lost.is_set())
        health.start()
        self._say(f"Health and metrics: http://{host}:{health.port}/healthz and /metrics")
        try:
            if settings.lead:
                self._lead()
            else:
                self._work()
        finally:
            health.stop()
            self._api.close()
        return not self._lost.is_set()

    def _lead(self) -> None:
        identity = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        namespace = self._settings.kube.namespace
        leadership = Leadership(self._api, namespace, LEASE, identity)
        self._say(f"Waiting to lead (Lease {namespace}/{LEASE})")
        if not leadership.acquire(self._stopped):
            return
        leadership.keep(self._end_as_lost)
        try:
            self._work()
        finally:
            leadership.release()

    def _end_as_lost(self) -> None:
        self._lost.set()
        self._stopped.set()

    def _work(self) -> None:
        settings = self._settings
        self._require_kinds()
        controller = Controller(
            self._api, settings.options, settings.period_seconds, self._metrics, settings.kinds
        )
        controller.start()
        where = ", ".join(settings.namespaces) or "all namespaces"
        self._say(f"Watching {where} at {settings.kube.server}")
        watcher = threading.Thread(target=self._watch, args=(controller,), name="watch")
        watcher.start()
        self._stopped.wait()
        watcher.join()
        controller.stop()

    def _require_kinds(self) -> None:
        """KubeError if a kind is missing or may not be listed, UserError if it is Strimzi's."""
        for namespace in self._settings.namespaces or ("",):
            for kind in self._settings.kinds:
                self._api.all(API_VERSION, kind, namespace)
        if CONNECTOR in self._settings.kinds and drops_offsets(self._api):
            raise UserError(STRIMZIS_KIND)

    def _watch(self, controller: Controller) -> None:
        # Not in the main thread: there kopf takes signals for itself.
        try:
            settings = self._settings
            watch(controller, settings.kube, settings.namespaces, settings.kinds, self._stopped)
        except Exception:
            log.exception("Watching failed")
        if not self._stopped.is_set():
            self._lost.set()
            self._stopped.set()

    def _count(self, verb: str) -> None:
        self._metrics.count("penstock_operator_kube_calls_total", verb=verb)
