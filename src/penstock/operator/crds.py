"""The three CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

from penstock.operator.names import CONNECT, CONNECTOR, GROUP, OFFSETS, PLURALS, STORED, VERSIONS
from penstock.operator.schemas import (
    CONDITIONS,
    GENERATION,
    array,
    boolean,
    fields,
    free,
    integer,
    quantities,
    rule,
    sink_offsets,
    source_offsets,
    string,
)

Json = dict[str, Any]
READY = '.status.conditions[?(@.type=="Ready")].status'
WHY = '.status.conditions[?(@.type=="Ready")].message'
CLUSTER = ".metadata.labels.strimzi\\.io/cluster"


def crds(*, beside_strimzi: bool = False) -> list[Json]:
    """All of them, as manifests; ``beside_strimzi`` the one that Strimzi does not have."""
    own = [_crd(OFFSETS, "kctro", _OFFSETS_SPEC, _OFFSETS_STATUS, _OFFSETS_COLUMNS)]
    if beside_strimzi:
        return own
    return [
        _crd(
            CONNECTOR,
            "kctr",
            _CONNECTOR_SPEC,
            _CONNECTOR_STATUS,
            _CONNECTOR_COLUMNS,
            scale="tasksMax",
        ),
        *own,
        _crd(CONNECT, "kc", _CONNECT_SPEC, _CONNECT_STATUS, _CONNECT_COLUMNS, scale="replicas"),
    ]


def _crd(
    kind: str, short: str, spec: Json, status: Json, columns: list[Json], *, scale: str = ""
) -> Json:
    plural = PLURALS[kind]
    singular = kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": singular}
    versions = [_version(version, spec, status, columns, scale) for version in VERSIONS]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}", "labels": {"app": "penstock"}},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {**names, "shortNames": [short], "categories": ["strimzi"]},
            "conversion": {"strategy": "None"},
            "versions": versions,
        },
    }


def _version(version: str, spec: Json, status: Json, columns: list[Json], scale: str) -> Json:
    parts: Json = {"status": {}}
    if scale:
        parts["scale"] = {
            "specReplicasPath": f".spec.{scale}",
            "statusReplicasPath": f".status.{scale}",
        }
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": spec, "status": status},
    }
    return {
        "name": version,
        "served": True,
        "storage": version == STORED,
        "subresources": parts,
        "additionalPrinterColumns": columns,
        "schema": {"openAPIV3Schema": schema},
    }


def _column(name: str, path: str, kind: str = "string", priority: int = 0) -> Json:
    return {"name": name, "type": kind, "jsonPath": path, "priority": priority}


def _config_map(description: str, direction: str) -> Json:
    name = fields("A ConfigMap in the same namespace.", ("name",), name=string("Its name."))
    return fields(description, (direction,), **{direction: name})


_CONNECTOR_SPEC = fields(
    "The connector that should exist.",
    ("class",),
    **{"class": string("Class or short name of the connector plugin.", minLength=1)},
    tasksMax=integer("Maximum number of tasks.", minimum=1),
    version=string("Version range of the plugin to use."),
    config=free("Config of the connector. Refer to secrets: ${provider:path:key}."),
    state=string("Desired state; running by default.", enum=["running", "paused", "stopped"]),
    pause=boolean("Deprecated: use state: paused."),
    autoRestart=fields(
        "Automatic restarts of failed connectors and tasks, with a growing delay.",
        enabled=boolean("Whether to restart what has failed."),
        maxRestarts=integer("Maximum number of restarts; unlimited if left out.", minimum=0),
    ),
    showOffsets=boolean(
        "Whether every reconciliation writes the connector's offsets to the status.",
        default=False,
    ),
    listOffsets=_config_map("Target of strimzi.io/connector-offsets=list.", "toConfigMap"),
    alterOffsets=_config_map("Source of strimzi.io/connector-offsets=alter.", "fromConfigMap"),
)
_CONNECTOR_STATUS = fields(
    "The observed state of the connector.",
    conditions=CONDITIONS,
    observedGeneration=GENERATION,
    connectorStatus=free("The status as returned by the REST API."),
    tasksMax=integer("spec.tasksMax, or the number of tasks if that is not set."),
    topics=array("Topics that the connector has used.", {"type": "string"}),
    autoRestart=fields(
        "Automatic restarts so far.",
        count=integer("Restarts since the connector was last healthy for long enough."),
        connectorName=string("The connector that was restarted."),
        lastRestartTimestamp=string("Time of the last restart."),
    ),
    appliedConfigHash=string("Hash of the config sent last; detects changed passwords."),
    connectorOffsets=fields(
        "The offsets, as of the last reconciliation with showOffsets: true.",
        lastUpdateTime=string("When they were read."),
        source=source_offsets("Offsets of a source connector."),
        sink=sink_offsets("Offsets of a sink connector."),
    ),
)
_CONNECTOR_COLUMNS = [
    _column("Cluster", CLUSTER),
    _column("Class", ".spec.class"),
    _column("Max Tasks", ".spec.tasksMax", "integer"),
    _column("State", ".status.connectorStatus.connector.state"),
    _column("Ready", READY),
    _column("Message", WHY, priority=1),
    _column("Age", ".metadata.creationTimestamp", "date"),
]

_OFFSETS_SPEC = rule(
    fields(
        "Offsets to set. They are applied once per generation of this resource.",
        ("connectorName",),
        connectorName=string("Name of the connector. It must be stopped.", minLength=1),
        sourceOffsets=source_offsets("For a source connector, in the format of its status."),
        sinkOffsets=sink_offsets("For a sink connector, in the format of its status."),
    ),
    "has(self.sourceOffsets) != has(self.sinkOffsets)",
    "Give exactly one of sourceOffsets and sinkOffsets: a connector is a source or a sink.",
)
_OFFSETS_STATUS = fields(
    "What happened to the offsets.",
    conditions=CONDITIONS,
    observedGeneration=GENERATION,
    outcome=string("Waiting, Applied or Failed."),
    triedSince=string("When the operator first tried to apply this generation."),
    applying=fields(
        "Set before the request is sent; a restarted operator then compares before sending.",
        generation=integer("Generation being applied.", format="int64"),
        since=string("Time of the attempt."),
    ),
)
_OFFSETS_COLUMNS = [
    _column("Cluster", CLUSTER),
    _column("Connector", ".spec.connectorName"),
    _column("Ready", READY),
    _column("Message", WHY),
    _column("Age", ".metadata.creationTimestamp", "date"),
]

_SPARK = fields(
    "Spark settings of the workers.",
    master=string("local[*] or k8s://https://kubernetes.default.svc."),
    executorInstances=integer("Executors per worker, with k8s://.", minimum=1),
    executorCores=integer("Cores per executor.", minimum=1),
    executorMemory=string("Memory per executor, e.g. 2g."),
    driverMemory=string("Heap of the Spark driver in each worker, e.g. 1g."),
    config={
        "type": "object",
        "description": "Other spark.* settings.",
        "additionalProperties": {"type": "string"},
    },
)
_CONNECT_SPEC = rule(
    fields(
        "A Connect cluster: one to deploy, or an existing one (url).",
        url=string(
            "REST address of an existing cluster; nothing is deployed then.",
            pattern="^https?://",
        ),
        credentialsSecret=string("Secret with token and ca.crt, for requests to the REST API."),
        replicas=integer("Number of workers.", minimum=0, default=1),
        bootstrapServers=string("Kafka brokers: host:port,..."),
        groupId=string("group.id of the cluster; defaults to its name."),
        image=string("Image of the workers."),
        config=free("Worker properties. They override all others."),
        resources=fields(
            "Resources of a worker, as in a pod. Default: 1 CPU and 2Gi of memory.",
            requests=quantities("Requests."),
            limits=quantities("Limits."),
        ),
        spark=_SPARK,
        secrets=array(
            "Secrets that connectors may refer to: ${dir:/mnt/secrets/<name>:<key>}.",
            string("Name of a Secret."),
        ),
        usersSecret=string("Secret whose key users lists who may use the REST API."),
        tlsSecret=string("Secret with tls.crt, tls.key and ca.crt for the REST API."),
        storage=string("Size of a persistent volume per worker, e.g. 1Gi. Default: none."),
        insecure=boolean("Serve REST without users and TLS. For sandboxes only.", default=False),
    ),
    "has(self.url) || has(self.bootstrapServers)",
    "Give bootstrapServers for a cluster to deploy, or url for an existing one.",
)
_CONNECT_STATUS = fields(
    "The observed state of the cluster.",
    conditions=CONDITIONS,
    observedGeneration=GENERATION,
    url=string("Address of the REST API."),
    replicas=integer("Number of ready workers."),
    connectorPlugins=array("Installed connector plugins.", free("A plugin, as in the REST API.")),
)
_CONNECT_COLUMNS = [
    _column("Desired Replicas", ".spec.replicas", "integer"),
    _column("Ready", READY),
    _column("Message", WHY, priority=1),
    _column("Age", ".metadata.creationTimestamp", "date"),
]
