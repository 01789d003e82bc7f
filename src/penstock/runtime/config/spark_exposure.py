"""Whether strangers could listen to what the worker and its Spark cluster tell each other.

The secret of a carrier, and the configuration of queries, travel in the closures of Spark's jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from penstock.runtime.config.rest_config import is_loopback
from penstock.sdk.errors import ConfigError

MASTER = "spark.master"
AUTHENTICATE = "spark.authenticate"
ENCRYPT = ("spark.network.crypto.enabled", "spark.ssl.rpc.enabled")


def refuse_open_spark(spark: Mapping[str, str], *, insecure: bool) -> None:
    """ConfigError if Spark's connections leave this machine without a secret or in clear."""
    lacking = [] if _on(spark, AUTHENTICATE) else [f"{AUTHENTICATE}=true"]
    lacking += [] if any(_on(spark, key) for key in ENCRYPT) else [f"{ENCRYPT[0]}=true"]
    if not lacking or insecure or _stays_here(spark.get(MASTER, "local")):
        return
    raise ConfigError(
        f"Other machines could listen to the worker and its Spark cluster, or pose as part of it: "
        f"secrets of connectors would be theirs. First set {' and '.join(lacking)} in "
        f"--worker-config and in the cluster (spark.authenticate.secret, too, where the cluster "
        f"manager makes none). To run it openly anyway, add --insecure."
    )


def _on(spark: Mapping[str, str], key: str) -> bool:
    return spark.get(key, "").strip().lower() == "true"


def _stays_here(master: str) -> bool:
    if master.startswith("local"):
        return True
    hosts = master.removeprefix("spark://").split(",")
    return master.startswith("spark://") and all(
        is_loopback(urlsplit(f"//{host}").hostname or "") for host in hosts
    )
