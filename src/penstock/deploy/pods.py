"""The pods of the workers: without root, without privilege, with a root that cannot be written."""

from __future__ import annotations

from typing import Any

from penstock.deploy.options import Options
from penstock.deploy.places import (
    CONFIG,
    DATA,
    PORT,
    RUN,
    SECRETS,
    SPARK_BLOCK_PORT,
    SPARK_DRIVER_PORT,
    TLS,
    TMP,
    USER_ID,
    USERS,
)

Json = dict[str, Any]
GRACE_SECONDS = 60
CONTAINER = "worker"


def pod_template(options: Options, labels: dict[str, str], digest: str) -> Json:
    """With a hash of the config, so that pods are replaced when it changes."""
    return {
        "metadata": {"labels": labels, "annotations": {"penstock.io/config-hash": digest}},
        "spec": {
            "serviceAccountName": options.pods_service,
            "automountServiceAccountToken": options.spark.in_pods,
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "securityContext": pod_security(),
            "containers": [_container(options)],
            "volumes": _volumes(options),
        },
    }


def executor_labels(options: Options) -> dict[str, str]:
    """By which a deployment's executors are known; no Service selects them."""
    return {"penstock.io/executor-of": options.name}


def executor_template(options: Options) -> Json:
    """What Spark makes its executors of; it adds name, image, command and resources."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": executor_labels(options)},
        "spec": {
            "securityContext": pod_security(),
            "containers": [
                {
                    "name": "executor",
                    "securityContext": container_security(),
                    "volumeMounts": [{"name": "tmp", "mountPath": TMP}],
                }
            ],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }


def pod_security() -> Json:
    """Of a pod."""
    return {
        "runAsNonRoot": True,
        "runAsUser": USER_ID,
        "runAsGroup": USER_ID,
        "fsGroup": USER_ID,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> Json:
    """Of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def _container(options: Options) -> Json:
    ports = [{"name": "rest", "containerPort": PORT}]
    if options.spark.in_pods:
        ports.append({"name": "spark-driver", "containerPort": SPARK_DRIVER_PORT})
        ports.append({"name": "spark-block", "containerPort": SPARK_BLOCK_PORT})
    return {
        "name": CONTAINER,
        "image": options.image,
        "command": ["/bin/sh", "-c", _script(options)],
        "env": _environment(),
        "ports": ports,
        "resources": _resources(options),
        "securityContext": container_security(),
        # A worker may take minutes to read its topics; until then it is only starting.
        "startupProbe": {**_probe(options), "failureThreshold": 60, "periodSeconds": 5},
        "livenessProbe": {**_probe(options), "periodSeconds": 20, "timeoutSeconds": 10},
        "readinessProbe": {**_probe(options), "periodSeconds": 10, "timeoutSeconds": 10},
        "volumeMounts": _mounts(options),
    }


def _resources(options: Options) -> Json:
    if options.resources:
        return dict(options.resources)
    return {
        "requests": {"cpu": options.cpu, "memory": options.memory},
        "limits": {"memory": options.memory},
    }


def _script(options: Options) -> str:
    """Says first how others find this pod, since what comes later in the file wins."""
    named = f"${{POD_NAME}}.{options.pods_service}.{options.namespace}.svc"
    own = [
        f"rest.advertised.host.name={named if options.stateful else '${POD_IP}'}",
        f"rest.allowed.hosts={','.join(['localhost', named, *service_names(options)])}",
    ]
    if options.spark.in_pods:
        own.append(f"spark.driver.host={named}")
        own.append("spark.kubernetes.driver.pod.name=${POD_NAME}")
    lines = " ".join(f'"{line}"' for line in own)
    start = f"exec penstock worker -c {RUN}/worker.properties --data-dir {DATA}"
    if options.insecure:
        start += " --insecure"
    return (
        f"{{ printf '%s\\n' {lines}; cat {CONFIG}/worker.properties; }} "
        f"> {RUN}/worker.properties && {start}"
    )


def service_names(options: Options) -> list[str]:
    """The names under which REST is asked for, from this namespace and from others."""
    place = options.namespace
    return [f"{options.api_service}{suffix}" for suffix in ("", f".{place}", f".{place}.svc")]


def _environment() -> list[Json]:
    return [
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "PENSTOCK_STATE_DIR", "value": f"{RUN}/state"},
        {"name": "HOME", "value": RUN},
    ]


def _probe(options: Options) -> Json:
    scheme = "HTTPS" if options.tls_secret else "HTTP"
    return {"httpGet": {"path": "/health", "port": "rest", "scheme": scheme}}


def _mounts(options: Options) -> list[Json]:
    mounts: list[Json] = [
        {"name": "config", "mountPath": CONFIG, "readOnly": True},
        {"name": "data", "mountPath": DATA},
        {"name": "run", "mountPath": RUN},
        {"name": "tmp", "mountPath": TMP},
    ]
    if options.users_secret:
        mounts.append({"name": "users", "mountPath": USERS, "readOnly": True})
    if options.tls_secret:
        mounts.append({"name": "tls", "mountPath": TLS, "readOnly": True})
    for name in options.secrets:
        place = f"{SECRETS}/{name}"
        mounts.append({"name": f"secret-{name}", "mountPath": place, "readOnly": True})
    return mounts


def _volumes(options: Options) -> list[Json]:
    volumes: list[Json] = [
        {"name": "config", "configMap": {"name": options.pods_service}},
        {"name": "run", "emptyDir": {"medium": "Memory"}},
        {"name": "tmp", "emptyDir": {}},
    ]
    if not options.storage:
        volumes.append({"name": "data", "emptyDir": {}})
    if options.users_secret:
        volumes.append({"name": "users", "secret": {"secretName": options.users_secret}})
    if options.tls_secret:
        volumes.append({"name": "tls", "secret": {"secretName": options.tls_secret}})
    secrets = [{"name": f"secret-{s}", "secret": {"secretName": s}} for s in options.secrets]
    return volumes + secrets
