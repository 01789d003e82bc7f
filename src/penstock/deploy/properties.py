"""The properties of the workers: ours, the upper layer's, the options', and the overrides."""

from __future__ import annotations

from penstock.deploy.options import Options
from penstock.deploy.places import (
    EXECUTOR_TEMPLATE,
    PORT,
    SECRETS,
    SPARK_BLOCK_PORT,
    SPARK_DRIVER_PORT,
    TLS,
    USERS,
)
from penstock.sdk.errors import UserError

PROVIDER = "org.apache.kafka.common.config.provider.DirectoryConfigProvider"


def worker_properties(options: Options) -> dict[str, str]:
    """In the order in which later ones win: ``worker_config`` is last."""
    given = {
        "group.id": options.group_id,
        "bootstrap.servers": options.bootstrap_servers,
    }
    found = {
        **_defaults(options),
        **options.upper_config,
        **{key: value for key, value in given.items() if value},
        **options.worker_config,
    }
    if not found.get("bootstrap.servers"):
        raise UserError(
            "The workers need Kafka brokers: give --bootstrap-servers host:port,... or set "
            "bootstrap.servers in the worker config."
        )
    return found


def render_properties(properties: dict[str, str]) -> str:
    """As a properties file."""
    return "".join(f"{key}={_escaped(value)}\n" for key, value in sorted(properties.items()))


def _escaped(value: str) -> str:
    text = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return "\\" + text if text[:1] in (" ", "\t") else text


def _defaults(options: Options) -> dict[str, str]:
    scheme = "http" if options.insecure and not options.tls_secret else "https"
    return {
        "group.id": options.name,
        "listeners": f"{scheme}://0.0.0.0:{PORT}",
        **_protection(options),
        **_secrets(options),
        **_spark(options),
    }


def _protection(options: Options) -> dict[str, str]:
    found = {}
    if options.users_secret:
        found["rest.auth.users.file"] = f"{USERS}/users"
    if options.tls_secret:
        found["rest.ssl.certificate.file"] = f"{TLS}/tls.crt"
        found["rest.ssl.key.file"] = f"{TLS}/tls.key"
        found["rest.ssl.peer.ca.file"] = f"{TLS}/ca.crt"
    return found


def _secrets(options: Options) -> dict[str, str]:
    if not options.secrets:
        return {}
    return {
        "config.providers": "dir",
        "config.providers.dir.class": PROVIDER,
        "config.providers.dir.param.allowed.paths": SECRETS,
    }


def _spark(options: Options) -> dict[str, str]:
    spark = options.spark
    found = {"spark.master": spark.master, "spark.driver.memory": spark.driver_memory}
    if spark.in_pods:
        found |= {
            "spark.executor.instances": str(spark.executor_instances),
            "spark.executor.cores": str(spark.executor_cores),
            "spark.executor.memory": spark.executor_memory,
            # How many leases a worker runs at once.
            "spark.cores.max": str(spark.executor_instances * spark.executor_cores),
            "spark.kubernetes.namespace": options.namespace,
            "spark.kubernetes.container.image": options.image,
            "spark.kubernetes.executor.podTemplateFile": EXECUTOR_TEMPLATE,
            "spark.driver.port": str(SPARK_DRIVER_PORT),
            "spark.driver.blockManager.port": str(SPARK_BLOCK_PORT),
            "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 (inside a pod)
            # What passes between worker and executors holds secrets.
            "spark.authenticate": "true",
            "spark.network.crypto.enabled": "true",
        }
    return {**found, **spark.config}
