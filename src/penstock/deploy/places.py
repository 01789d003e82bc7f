"""Paths and ports inside a worker's pod."""

from __future__ import annotations

PORT = 8083
SPARK_DRIVER_PORT = 7078
SPARK_BLOCK_PORT = 7079
USER_ID = 10001

CONFIG = "/etc/penstock"
USERS = "/etc/penstock-users"
TLS = "/etc/penstock-tls"
SECRETS = "/mnt/secrets"
DATA = "/var/lib/penstock"
RUN = "/run/penstock"
TMP = "/tmp"  # noqa: S108 (a volume of the pod's own)
EXECUTOR_TEMPLATE = f"{CONFIG}/executor.yaml"
