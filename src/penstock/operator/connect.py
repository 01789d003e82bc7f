"""One round over one KafkaConnect: its workers deployed, or only looked at where it has a url."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from penstock.client import ConnectClient, ConnectError
from penstock.deploy.options import DEFAULT_IMAGE, Options, Spark
from penstock.deploy.render import render
from penstock.kube import KubeApi, KubeError
from penstock.operator.calls import explain
from penstock.operator.clusters import address
from penstock.operator.conditions import Condition, not_ready, ready, timed
from penstock.operator.connector import delete_connector
from penstock.operator.desired import text
from penstock.operator.errors import Unready
from penstock.operator.home import NORMAL, WARNING, Home
from penstock.operator.home import Options as RoundOptions
from penstock.operator.names import API_VERSION, CLUSTER_LABEL, CONNECTOR, USE_RESOURCES
from penstock.operator.pause import is_paused, paused_status
from penstock.sdk.errors import UserError

Json = dict[str, Any]
RENDERED = "penstock.io/rendered"


class ConnectRound:
    """Call `run` once. ``client`` makes a client of the cluster."""

    def __init__(self, resource: Json, api: KubeApi, home: Home, options: RoundOptions) -> None:
        self._resource, self._api, self._home, self._options = resource, api, home, options
        self._spec: Json = resource["spec"]
        self._before: Json = resource.get("status") or {}
        self._status: Json = {"url": address(resource)}

    def run(self, client: Callable[[], ConnectClient]) -> bool:
        """Whether all its workers are there and answer."""
        if is_paused(self._resource):
            self._home.write_status(paused_status(self._resource, self._options.now()))
            return True
        try:
            self._deploy()
            verdict = self._look(client)
        except UserError as error:
            return self._write(not_ready("InvalidResource", str(error)), settled=True)
        except KubeError as error:
            return self._write(not_ready("NotDeployed", str(error)), settled=False)
        return self._write(verdict, settled=verdict == ready())

    def _deploy(self) -> None:
        if self._spec.get("url"):
            return
        for wanted in render(deploy_options(self._resource)):
            if self._bring(wanted):
                title = f"{wanted['kind']} {wanted['metadata']['name']}"
                self._home.tell(NORMAL, "Deployed", f"{title} was created or updated.")

    def _bring(self, wanted: Json) -> bool:
        """Apply an object unless it is there as it was rendered; whether that was needed."""
        digest = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:16]
        meta = wanted["metadata"]
        live = self._api.get(wanted["apiVersion"], wanted["kind"], meta["name"], meta["namespace"])
        if live is not None and _annotation(live) == digest:
            return False
        meta["annotations"] = {**(meta.get("annotations") or {}), RENDERED: digest}
        self._api.apply(wanted)
        return True

    def _look(self, client: Callable[[], ConnectClient]) -> list[Condition]:
        if not self._spec.get("url"):
            wanted, ready_pods = self._spec.get("replicas", 1), self._ready_pods()
            self._status["replicas"] = ready_pods
            if ready_pods < wanted:
                return not_ready("Starting", f"{ready_pods} of {wanted} workers are ready.")
            if wanted == 0:
                return ready()
        try:
            asked = client()
            plugins = asked.plugins()
            self._delete_strangers(asked)
        except (ConnectError, Unready) as error:
            return not_ready(type(error).__name__, explain(error))
        self._status["connectorPlugins"] = sorted(plugins, key=lambda plugin: plugin["class"])
        return ready()

    def _delete_strangers(self, client: ConnectClient) -> None:
        """With strimzi.io/use-connector-resources=true, a connector has a resource or goes."""
        meta = self._resource["metadata"]
        if (meta.get("annotations") or {}).get(USE_RESOURCES) != "true":
            return
        # In this order: a connector that is listed had its resource before.
        running, labels = client.connectors(), {CLUSTER_LABEL: meta["name"]}
        found = self._api.all(API_VERSION, CONNECTOR, meta["namespace"], labels)
        for name in sorted(set(running) - {resource["metadata"]["name"] for resource in found}):
            delete_connector(client, name)
            self._home.tell(
                WARNING,
                "ConnectorDeleted",
                f"Connector {name} was deleted: it has no KafkaConnector resource.",
            )

    def _ready_pods(self) -> int:
        meta = self._resource["metadata"]
        kind = render(deploy_options(self._resource))[-1]["kind"]
        found = self._api.get("apps/v1", kind, f"{meta['name']}-connect", meta["namespace"])
        return int(((found or {}).get("status") or {}).get("readyReplicas", 0))

    def _write(self, verdict: list[Condition], *, settled: bool) -> bool:
        conditions = timed(verdict, self._before.get("conditions", ()), self._options.now())
        generation = self._resource["metadata"]["generation"]
        self._home.write_status(
            {**self._status, "observedGeneration": generation, "conditions": conditions}
        )
        return settled


def deploy_options(resource: Json) -> Options:
    """What its spec says, as the base layer takes it; UserError names what it cannot be."""
    spec, meta = resource["spec"], resource["metadata"]
    return Options(
        name=meta["name"],
        namespace=meta["namespace"],
        bootstrap_servers=spec.get("bootstrapServers", ""),
        workers=spec.get("replicas", 1),
        group_id=spec.get("groupId", ""),
        worker_config={key: text(value) for key, value in (spec.get("config") or {}).items()},
        image=spec.get("image") or DEFAULT_IMAGE,
        resources=spec.get("resources"),
        spark=_spark(spec.get("spark") or {}),
        storage=spec.get("storage", ""),
        secrets=tuple(spec.get("secrets") or ()),
        users_secret=spec.get("usersSecret", ""),
        tls_secret=spec.get("tlsSecret", ""),
        insecure=bool(spec.get("insecure")),
        owner={
            "apiVersion": resource["apiVersion"],
            "kind": resource["kind"],
            "name": meta["name"],
            "uid": meta["uid"],
            "controller": True,
        },
    )


def _spark(spec: Json) -> Spark:
    default = Spark()
    return Spark(
        master=spec.get("master", default.master),
        executor_instances=spec.get("executorInstances", default.executor_instances),
        executor_cores=spec.get("executorCores", default.executor_cores),
        executor_memory=spec.get("executorMemory", default.executor_memory),
        driver_memory=spec.get("driverMemory", default.driver_memory),
        config=spec.get("config") or {},
    )


def _annotation(live: Json) -> str:
    return str((live["metadata"].get("annotations") or {}).get(RENDERED, ""))
