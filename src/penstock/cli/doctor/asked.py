"""What the doctor is asked to look at: the same as `penstock up` would run with these options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.running import Running
from penstock.cli.up import worker_properties
from penstock.sdk.errors import ConfigError

if TYPE_CHECKING:
    from penstock.kafka.clients import Connection


@dataclass(frozen=True)
class Config:
    """The worker's config as `up` would take it, or what is wrong with its file."""

    properties: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    trouble: str = ""

    @staticmethod
    def read(file: Path | None, bootstrap_servers: str | None) -> Config:
        """The file's properties and those that options give."""
        options = {"bootstrap.servers": bootstrap_servers}
        try:
            return Config(worker_properties(file, options), file)
        except ConfigError as error:
            return Config(worker_properties(None, options), file, str(error))

    @property
    def port(self) -> int:
        """The port of the REST API that the file names; if it names none, the usual one."""
        from penstock.runtime.config.listeners import Listener, listener_of

        try:
            return listener_of(self.properties).port
        except ConfigError:
            return Listener().port


@dataclass(frozen=True)
class Asked:
    """Options of `up`, resolved as `up` does, and the workers that run on this machine."""

    data_dir: Path
    port: int
    kafka_port: int | None = None
    config: Config = field(default_factory=Config)
    timeout: float = 5.0
    workers: tuple[Running, ...] = ()

    @property
    def given_brokers(self) -> str:
        """The brokers to use; empty where one is embedded."""
        return self.config.properties.get("bootstrap.servers", "")

    @property
    def own_worker(self) -> Running | None:
        """The worker that runs on this data folder."""
        return next((w for w in self.workers if Path(w.data_dir) == self.data_dir), None)

    @property
    def brokers(self) -> str:
        """Brokers that should answer now: those given, else those of a worker that runs here."""
        workers = (self.own_worker, *self.workers)
        known = (worker.bootstrap_servers for worker in workers if worker)
        return self.given_brokers or next(filter(None, known), "")

    def connection(self) -> Connection:
        """How to reach them."""
        from penstock.runtime.config.provider_config import providers_of
        from penstock.runtime.config.worker_config import connection_of

        properties = self.config.properties
        found = providers_of(properties).resolve(properties)
        return connection_of(found.config, self.brokers)
