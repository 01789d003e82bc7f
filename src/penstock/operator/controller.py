"""Schedules rounds for all resources of a cluster, on a few threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from typing import Any, NamedTuple

from penstock.client import ConnectError
from penstock.kube import KubeApi, KubeError, KubeUnavailable
from penstock.operator.clusters import Clusters
from penstock.operator.conditions import not_ready, timed
from penstock.operator.connect import ConnectRound
from penstock.operator.connector import ConnectorRound, delete_connector
from penstock.operator.errors import InvalidResource, NoSuchCluster, Unready
from penstock.operator.home import Options
from penstock.operator.kube_home import KubeHome
from penstock.operator.metrics import Metrics
from penstock.operator.names import (
    API_VERSION,
    CLUSTER_LABEL,
    CONNECT,
    CONNECTOR,
    FINALIZER,
    OFFSETS,
    PLURALS,
)
from penstock.operator.offsets import OffsetsRound, is_over
from penstock.operator.pause import is_paused, paused_status
from penstock.operator.work_queue import WorkQueue

Json = dict[str, Any]
THREADS = 8
OUR_FAULT = (
    "The operator failed on this resource, and will try again: see its log for the reason. If an "
    "edit does not help, please report it."
)
log = logging.getLogger(__name__)


class Key(NamedTuple):
    """Of a resource."""

    kind: str
    namespace: str
    name: str


class Seen(NamedTuple):
    """What is known of a resource between rounds: what made the last one due, and its cluster."""

    fingerprint: tuple[Any, ...]
    cluster: str
    created: str


class Controller:
    """Call order: `start`, `changed` and `gone` any time, `stop`. Thread-safe.

    Only resources of ``kinds`` are reconciled; another operator has the others.
    """

    def __init__(
        self,
        api: KubeApi,
        options: Options,
        period: float,
        metrics: Metrics,
        kinds: Collection[str] = tuple(PLURALS),
    ) -> None:
        self._api, self._options, self._period, self._metrics = api, options, period, metrics
        self._kinds = kinds
        self._clusters = Clusters(api)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._seen: dict[Key, Seen] = {}
        self._threads: list[threading.Thread] = []
        metrics.gauge("penstock_operator_queue_length", lambda: len(self._queue))
        metrics.gauge("penstock_operator_resources", lambda: len(self._seen))

    def start(self) -> None:
        """Begin with rounds."""
        for number in range(THREADS):
            thread = threading.Thread(target=self._work, name=f"round-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """Finish the rounds that have begun; return once they are over."""
        self._queue.close()
        for thread in self._threads:
            thread.join()
        self._clusters.close()

    def changed(self, resource: Json) -> None:
        """A resource was seen. A round is due unless only its status has changed."""
        key, seen = _key(resource), _seen(resource)
        before = self._seen.get(key)
        self._seen[key] = seen
        if before is not None and before.fingerprint == seen.fingerprint:
            return
        self._queue.settle(key)
        self._queue.add(key)
        if key.kind == CONNECT:
            self._wake(key)

    def gone(self, resource: Json) -> None:
        """A resource was deleted."""
        key = _key(resource)
        self._seen.pop(key, None)
        self._queue.forget(key)

    def _wake(self, cluster: Key) -> None:
        for key, seen in list(self._seen.items()):
            if key.namespace == cluster.namespace and seen.cluster == cluster.name:
                self._queue.settle(key)
                self._queue.add(key)

    def _work(self) -> None:
        while (key := self._queue.take()) is not None:
            try:
                self._round(key)
            finally:
                self._queue.done(key)

    def _round(self, key: Key) -> None:
        try:
            settled = self._bring_about(key)
        except (KubeError, KubeUnavailable) as error:
            log.warning("%s: %s", "/".join(key), error)
            settled = False
        except Exception:
            # One resource, however odd, must not end the rounds of the others.
            log.exception("The round of %s failed", "/".join(key))
            self._tell_failure(key)
            settled = False
        self._metrics.count(
            "penstock_operator_rounds_total", kind=key.kind, settled=str(settled).lower()
        )
        self._next(key, settled)

    def _tell_failure(self, key: Key) -> None:
        """Say in the status that the fault is ours, and keep all else in it."""
        try:
            resource = self._api.get(API_VERSION, key.kind, key.name, key.namespace)
            if resource is not None:
                before = resource.get("status") or {}
                verdict = not_ready("OperatorError", OUR_FAULT)
                told = timed(verdict, before.get("conditions") or (), self._options.now())
                KubeHome(self._api, resource).write_status({**before, "conditions": told})
        except (KubeError, KubeUnavailable) as error:
            log.warning("%s: %s", "/".join(key), error)

    def _next(self, key: Key, settled: bool | None) -> None:
        if settled is None:
            self._queue.forget(key)
        elif settled:
            self._queue.settle(key)
            if key.kind != OFFSETS:
                self._queue.add(key, self._period)
        else:
            self._queue.retry(key, self._period)

    def _bring_about(self, key: Key) -> bool | None:
        """None if it is gone, else whether it is settled."""
        resource = self._api.get(API_VERSION, key.kind, key.name, key.namespace)
        if resource is None:
            return None
        if key.kind == CONNECTOR:
            return self._connector(resource)
        if key.kind == OFFSETS:
            return self._offsets(key, resource)
        return self._connect(resource)

    def _connect(self, resource: Json) -> bool | None:
        if resource["metadata"].get("deletionTimestamp"):
            return None
        home = KubeHome(self._api, resource)
        round_ = ConnectRound(resource, self._api, home, self._options)
        return round_.run(lambda: self._clusters.client_to(resource))

    def _connector(self, resource: Json) -> bool | None:
        home = KubeHome(self._api, resource)
        if resource["metadata"].get("deletionTimestamp"):
            return self._delete(resource, home)
        round_ = ConnectorRound(resource, home, self._options)
        try:
            client = self._clusters.client_of(resource)
        except (Unready, ConnectError) as error:
            round_.fail(error)
            return isinstance(error, InvalidResource)
        home.hold()
        return round_.run(client)

    def _delete(self, resource: Json, home: KubeHome) -> bool | None:
        if FINALIZER not in (resource["metadata"].get("finalizers") or ()):
            return None
        name = resource["metadata"]["name"]
        try:
            delete_connector(self._clusters.client_of(resource), name)
        except (InvalidResource, NoSuchCluster):
            log.info("%s: its cluster is gone, and the connector with it", name)
        except ConnectError as error:
            home.tell("Warning", "NotDeleted", f"The connector could not be deleted: {error}")
            return False
        home.let_go()
        return None

    def _offsets(self, key: Key, resource: Json) -> bool | None:
        meta = resource["metadata"]
        if meta.get("deletionTimestamp"):
            return None
        if is_over(resource.get("status") or {}, meta["generation"]):
            return True
        home = KubeHome(self._api, resource)
        if is_paused(resource):
            home.write_status(paused_status(resource, self._options.now()))
            return True
        round_ = OffsetsRound(resource, home, self._options)
        try:
            client = self._clusters.client_of(resource)
            self._refuse_second(resource)
        except (Unready, ConnectError) as error:
            round_.fail(error)
            return isinstance(error, InvalidResource)
        over = round_.run(client)
        if over and CONNECTOR in self._kinds:
            self._queue.add(Key(CONNECTOR, key.namespace, resource["spec"]["connectorName"]))
        return over

    def _refuse_second(self, resource: Json) -> None:
        """Of two for one connector, the elder comes first: their order would change the outcome."""
        for other in self._api.all(API_VERSION, OFFSETS, resource["metadata"]["namespace"]):
            if _is_elder(other, resource):
                raise WaitsForOther(
                    f"KafkaConnectorOffsets {other['metadata']['name']} for the same connector is "
                    "older and not yet applied. Wait for it, or delete it."
                )


class WaitsForOther(Unready):
    """Another resource comes first."""


def _is_elder(other: Json, resource: Json) -> bool:
    theirs, ours = other["metadata"], resource["metadata"]
    return (
        theirs["uid"] != ours["uid"]
        and other["spec"]["connectorName"] == resource["spec"]["connectorName"]
        and _cluster(other) == _cluster(resource)
        and not theirs.get("deletionTimestamp")
        and not is_over(other.get("status") or {}, theirs["generation"])
        and (theirs["creationTimestamp"], theirs["name"])
        < (ours["creationTimestamp"], ours["name"])
    )


def _key(resource: Json) -> Key:
    meta = resource["metadata"]
    return Key(resource["kind"], meta["namespace"], meta["name"])


def _cluster(resource: Json) -> str:
    return str((resource["metadata"].get("labels") or {}).get(CLUSTER_LABEL, ""))


def _seen(resource: Json) -> Seen:
    meta = resource["metadata"]
    annotations = tuple(sorted((meta.get("annotations") or {}).items()))
    moments = (meta["uid"], meta.get("generation"), meta.get("deletionTimestamp"))
    fingerprint = (*moments, annotations, _cluster(resource))
    return Seen(fingerprint, _cluster(resource), meta.get("creationTimestamp", ""))
