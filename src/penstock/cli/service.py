"""A worker with its REST listener in this process, as `up` and `demo` run it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from penstock.consumers.sweeper import SWEEP_SECONDS, Sweeper
from penstock.kafka.clients import Connection
from penstock.rest import RestServer, create_app, listen
from penstock.rest.access.protection import Protection
from penstock.rest.access.starting_herder import StartingHerder
from penstock.rest.consumers_api import ConsumersApi
from penstock.rest.herder_api import HerderApi
from penstock.rest.sql.api import SqlApi
from penstock.runtime.config.listeners import advertised
from penstock.runtime.config.provider_config import providers_of
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.config.spark_exposure import refuse_open_spark
from penstock.runtime.worker import Worker, WorkerConfig

HOST = "127.0.0.1"


class Service:
    """REST and worker together. Call order: `serve`, `start`, `stop`; `stop` may come any time.

    Making it claims the port already, so a port in use is reported before anything starts; and so
    are a ``host`` that strangers could reach while nothing stops them, and a Spark cluster that
    they could listen to, unless ``insecure``.
    """

    def __init__(
        self,
        properties: Mapping[str, str],
        data_dir: Path,
        port: int,
        kafka_port: int | None = None,
        host: str = HOST,
        *,
        insecure: bool = False,
    ) -> None:
        config = WorkerConfig.from_properties(properties, data_dir)
        rest = RestConfig.from_properties(properties)
        rest.refuse_exposure(host, insecure=insecure)
        refuse_open_spark(properties, insecure=insecure)
        protection = Protection.of(rest, providers_of(properties))
        self.token = protection.token
        self.certificate = rest.tls.certificate if rest.tls else ""
        listener = listen(host, port)
        address = advertised(properties, host, listener.getsockname()[1])
        self.worker = Worker(
            config, embedded_kafka_port=kafka_port, worker_id=address, tls=rest.tls
        )
        consumers = ConsumersApi(self._connection, self._own_topics)
        app = create_app(
            StartingHerder(self.worker), rest.host_names, protection, consumers, self._sql
        )
        self._app = app
        self._sweeper = Sweeper(self._connection, self.worker.leads, SWEEP_SECONDS)
        self.rest = RestServer(app, host, port, listener, rest.tls)

    @property
    def url(self) -> str:
        """Where REST is."""
        return self.rest.url

    @property
    def bootstrap_servers(self) -> str:
        """Where Kafka is; empty before `start` has found out."""
        return self.worker.bootstrap_servers

    def _connection(self) -> Connection:
        return self.worker.config.connection(self.bootstrap_servers)

    def _own_topics(self) -> Collection[str]:
        return self.worker.config.own_topics()

    def _sql(self, herder: HerderApi) -> SqlApi:
        spark = lambda: self.worker.spark()  # noqa: E731, PLW0108 (only a query needs it)
        properties = self.worker.config.properties
        return SqlApi(herder, self._connection, spark, self._own_topics, properties=properties)

    def serve(self) -> None:
        """Answer requests; health says that the worker is starting."""
        self.rest.start()

    def start(self, progress: Callable[[str], None]) -> None:
        """Return once the worker is ready; ``progress`` hears what it waits for."""
        self.worker.start(progress)
        self._sweeper.start()

    def stop(self) -> None:
        """Stop both: REST first, so that no request reaches a worker that is going down."""
        self._sweeper.stop()
        self._app.state.sql.close()
        try:
            self.rest.stop()
        finally:
            self.worker.stop()
