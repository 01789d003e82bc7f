"""A worker: everything but its REST listener, put together and taken apart.

``start`` blocks until the broker answers and configs and statuses have been read to their true end;
Spark is not started by it, but by the first turn. ``stop`` lets running leases commit and end.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import cast

from penstock.embedded import EmbeddedBroker, Jars, Java, ensure_jars, find_java
from penstock.engine.session import LazySession, SparkSettings
from penstock.engine.turns import Engine
from penstock.engine.watches import HeartbeatServer
from penstock.kafka import clients
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.membership import Membership
from penstock.kafka.names import worker_topic
from penstock.logs.secrets import hide
from penstock.logs.subject import about
from penstock.runtime.actions import Actions
from penstock.runtime.cluster import Cluster
from penstock.runtime.config_store import ConfigStore
from penstock.runtime.end_offsets import EndOffsets
from penstock.runtime.herder import Herder
from penstock.runtime.offset_store import OffsetStore
from penstock.runtime.plugins import Plugins
from penstock.runtime.position_copies import PositionCopies
from penstock.runtime.runner import Context
from penstock.runtime.scheduler import Scheduler
from penstock.runtime.sink_keeper import SinkKeeper
from penstock.runtime.status_store import StatusStore
from penstock.runtime.worker_config import WorkerConfig

__all__ = ["Worker", "WorkerConfig"]

log = logging.getLogger(__name__)

Progress = Callable[[str], None]
ELECTION_SECONDS = 30.0
HELD_UP_SECONDS = 2.0


class Worker:
    """One worker process."""

    def __init__(
        self,
        config: WorkerConfig,
        *,
        embedded_kafka_port: int | None = None,
        worker_id: str = "127.0.0.1:8083",
    ) -> None:
        self.config = config
        self.worker_id = worker_id
        self.plugins = Plugins()
        self.herder = Herder(self.plugins, config.group_id)
        self._kafka_port = embedded_kafka_port
        self._broker: EmbeddedBroker | None = None
        self._undo: list[Callable[[], None]] = []
        self._stopped = threading.Event()

    @property
    def bootstrap_servers(self) -> str:
        """The brokers this worker uses."""
        given = self.config["bootstrap.servers"]
        if given:
            return str(given)
        return self._broker.bootstrap_servers if self._broker else ""

    def start(self, progress: Progress | None = None) -> None:
        """Come up; an error leaves nothing behind."""
        say = progress or (lambda _: None)
        try:
            self._start(say)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Go down cleanly, in the reverse order of coming up; may be called twice."""
        self._stopped.set()
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception:
                log.exception("stopping: %s failed", undo)

    def _start(self, say: Progress) -> None:
        self.config.data_dir.mkdir(parents=True, exist_ok=True)
        java = find_java()
        jars = ensure_jars(java, say)
        if not self.config["bootstrap.servers"]:
            self._start_broker(java, jars, say)
        say("reading the stores")
        context, cluster, cluster_id = self._build(java, jars)
        self.herder.open(context, cluster, cluster_id)
        say("joining the worker group")
        self._join(context, cluster)

    def _start_broker(self, java: Java, jars: Jars, say: Progress) -> None:
        say("starting Kafka")
        self._broker = EmbeddedBroker(
            self.config.data_dir / "kafka", java, jars, port=self._kafka_port
        )
        self._undo.append(self._broker.stop)
        self._broker.start(progress=say)

    def _build(self, java: Java, jars: Jars) -> tuple[Context, Cluster, str]:
        config = self.config
        connection = config.connection(self.bootstrap_servers)
        hide(connection.secrets())
        admin = clients.admin(connection)
        replication = config["storage.replication.factor"]
        topic = worker_topic(config.group_id)
        configs = ConfigStore(
            connection, admin, config["config.storage.topic"], config.group_id, replication
        )
        offsets = OffsetStore(
            connection,
            admin,
            config["offset.storage.topic"],
            config["offset.storage.partitions"],
            replication,
        )
        statuses = StatusStore(
            connection,
            admin,
            config["status.storage.topic"],
            config["status.storage.partitions"],
            replication,
        )
        copies = PositionCopies(connection, admin, topic, replication)
        self._open_stores(configs, offsets, statuses, copies)
        kafka = admin.list_topics(timeout=10)
        engine = self._engine(java, jars)
        scheduler = self._scheduler(engine)
        actions: list[Actions] = []
        cluster = Cluster(topic, lambda: _take_over(context, actions[0]))
        context = Context(
            worker=config,
            worker_id=self.worker_id,
            connection=replace(connection, few_brokers=clients.few_brokers(kafka)),
            admin=admin,
            plugins=self.plugins,
            engine=engine,
            scheduler=scheduler,
            configs=configs,
            offsets=offsets,
            statuses=statuses,
            copies=copies,
            ends=EndOffsets(admin),
            membership=cluster.standing,
            generation=cluster.generation,
        )
        actions.append(Actions(context, cluster))
        # The client's types know it only as the None it begins with.
        return context, cluster, cast("str | None", kafka.cluster_id) or ""

    def _open_stores(
        self,
        configs: ConfigStore,
        offsets: OffsetStore,
        statuses: StatusStore,
        copies: PositionCopies,
    ) -> None:
        for begin, end in (
            (configs.log.start, configs.log.stop),
            (offsets.log.start, offsets.log.stop),
            (statuses.start, statuses.stop),
            (copies.log.start, copies.log.stop),
        ):
            begin()
            self._undo.append(end)
        for store in (configs, statuses):
            store.log.read_to_end()
        # A lease that was killed while it committed holds up readers of these for a minute, or
        # until its id is fenced. Whoever needs the true end fences first, and then reads to it.
        for held_up in (offsets, copies):
            with contextlib.suppress(BrokerUnavailable):
                held_up.log.read_to_end(HELD_UP_SECONDS)

    def _engine(self, java: Java, jars: Jars) -> Engine:
        settings = SparkSettings(
            data_dir=self.config.data_dir,
            jars=jars.spark,
            java_home=java.home,
            worker_config=self.config.spark(),
        )
        heartbeats = HeartbeatServer(settings.driver_host)
        engine = Engine(LazySession(settings), heartbeats, self.config.limits())
        self._undo.append(engine.stop)
        return engine

    def _scheduler(self, engine: Engine) -> Scheduler:
        grace = self.config["turn.grace.ms"] / 1000
        scheduler = Scheduler(engine.session.settings.slots, grace)
        scheduler.start()
        self._undo.append(scheduler.stop)
        return scheduler

    def _join(self, context: Context, cluster: Cluster) -> None:
        config = self.config
        membership = Membership(
            context.connection,
            config.group_id,
            worker_topic(config.group_id),
            on_elected=cluster.elected,
            on_deposed=cluster.deposed,
            session_timeout_ms=config["session.timeout.ms"],
        )
        cluster.standby = lambda: membership.joined and not membership.owner
        keeper = SinkKeeper(context, cluster, self.herder.lock)
        membership.start()
        self._undo.append(membership.stop)
        keeper.start()
        self._undo.append(keeper.stop)
        self._undo.append(cluster.stop)
        if not cluster.wait_until_settled(ELECTION_SECONDS):
            raise BrokerUnavailable(
                f"the worker could not join group {config.group_id} within "
                f"{ELECTION_SECONDS:.0f} s; is a real Kafka Connect cluster using this group.id?"
            )


def _take_over(context: Context, actions: Actions) -> None:
    """Lead: fence the leader before, read the configs to their true end, run what should run."""
    context.configs.lead()
    context.configs.log.read_to_end()
    for name in context.configs.names():
        with about(name):
            actions.reconcile(name)
