"""The options of a deployment and their defaults, shared by CLI, charm and chart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock import __version__
from penstock.sdk.errors import UserError

DEFAULT_IMAGE = f"penstock:{__version__}"
TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
NAME = re.compile(r"[a-z]([-a-z0-9]{0,48}[a-z0-9])?")
LOCAL = "local[*]"


@dataclass(frozen=True)
class Spark:
    """How the workers' Spark runs: each worker its own (local), or executors in pods (k8s://)."""

    master: str = LOCAL
    executor_instances: int = 2
    executor_cores: int = 1
    executor_memory: str = "1g"
    driver_memory: str = "1g"
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_pods(self) -> bool:
        """Whether its executors are pods of their own."""
        return self.master.startswith("k8s://")


@dataclass(frozen=True)
class Options:
    """A cluster of workers. ``name`` names all its objects.

    ``upper_config`` is what an upper layer sets, ``worker_config`` wins over everything.
    ``resources``, as in a pod, stand in the place of ``cpu`` and ``memory``. Without
    ``insecure`` there must be ``users_secret`` (key ``users``) and ``tls_secret`` (keys
    ``tls.crt``, ``tls.key``, ``ca.crt``), since pods listen beyond loopback.
    """

    name: str
    namespace: str = "default"
    bootstrap_servers: str = ""
    workers: int = 1
    group_id: str = ""
    topics: tuple[str, ...] = ()
    worker_config: Mapping[str, str] = field(default_factory=dict)
    upper_config: Mapping[str, str] = field(default_factory=dict)
    image: str = DEFAULT_IMAGE
    cpu: str = "1"
    memory: str = "2Gi"
    resources: Mapping[str, object] | None = None
    spark: Spark = field(default_factory=Spark)
    storage: str = ""
    secrets: tuple[str, ...] = ()
    users_secret: str = ""
    tls_secret: str = ""
    credentials_secret: str = ""
    insecure: bool = False
    owner: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise UserError(
                f"{self.name!r} cannot name a deployment: take up to 50 lower-case letters, digits "
                "and hyphens, beginning with a letter."
            )
        if self.workers < 0:
            raise UserError(f"workers is {self.workers}: give 0 or more.")
        if not self.insecure and not (self.users_secret and self.tls_secret):
            raise UserError(
                "Pods listen beyond loopback, so their REST API needs users and TLS: name the "
                "Secrets that hold them (--users-secret, --tls-secret), or say --insecure for a "
                "sandbox."
            )

    @property
    def api_service(self) -> str:
        """The Service that REST is asked through."""
        return f"{self.name}-connect-api"

    @property
    def pods_service(self) -> str:
        """The headless Service that gives each pod a name."""
        return f"{self.name}-connect"

    @property
    def stateful(self) -> bool:
        """Whether pods need stable names or volumes, and so a StatefulSet."""
        return bool(self.storage or self.tls_secret or self.spark.in_pods)


def parse_worker_config(text: str) -> dict[str, str]:
    """Newline-separated ``property=value``; UserError names a line that is none."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise UserError(
                f"worker-config, line {number}: {line.strip()!r} is not property=value. Put each "
                "property on its own line."
            )
        found[key.strip()] = value.strip()
    return found


def parse_topics(text: str) -> tuple[str, ...]:
    """Topics separated by commas or spaces; UserError names one that cannot be."""
    names = tuple(name for name in re.split(r"[,\s]+", text) if name)
    for name in names:
        if not TOPIC.fullmatch(name) or name in (".", ".."):
            raise UserError(
                f"topics: {name!r} cannot name a topic: take up to 249 letters, digits, dots, "
                "underscores and hyphens."
            )
    return names
