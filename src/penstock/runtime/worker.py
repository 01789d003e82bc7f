"""A worker: starts and stops everything but its REST listener.

``start`` blocks until the broker answers and configs and statuses have been read to their true end;
Spark is not started by it, but by the first lease. ``stop`` lets running leases commit and end.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from penstock.embedded import EmbeddedBroker, Jars, Java, ensure_jars, find_java
from penstock.engine.driver.engine import Engine
from penstock.engine.driver.session import LazySession, SparkSettings
from penstock.kafka import clients
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.foreign_group import refuse_foreign_group
from penstock.kafka.membership import GroupMember
from penstock.kafka.names import worker_topic
from penstock.kafka.outage_watch import OutageWatch
from penstock.logs.secrets import hide
from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.cluster.assignments import Assignments
from penstock.runtime.cluster.cluster import Cluster
from penstock.runtime.cluster.leadership import Leadership
from penstock.runtime.cluster.peers import Peers
from penstock.runtime.cluster.standing import Standing
from penstock.runtime.config.rest_config import Tls
from penstock.runtime.config.worker_config import WorkerConfig
from penstock.runtime.errors import Unavailable
from penstock.runtime.herder import Herder
from penstock.runtime.own_answers import STARTING, OwnAnswers
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.auto_restart import AutoRestarter
from penstock.runtime.running.connector_control import ConnectorControl
from penstock.runtime.running.context import Context
from penstock.runtime.running.end_offsets import EndOffsets
from penstock.runtime.running.pipelines import pipeline_recipe
from penstock.runtime.running.runners import Runners
from penstock.runtime.running.scheduler import Scheduler
from penstock.runtime.sink_keeper import SinkKeeper
from penstock.runtime.stores.config_store import Listener
from penstock.runtime.stores.foreign_lead import ForeignLead
from penstock.runtime.stores.stores import Stores

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Worker", "WorkerConfig"]

log = logging.getLogger(__name__)

Progress = Callable[[str], None]
ELECTION_SECONDS = 30.0


class Worker:
    """One worker process."""

    def __init__(
        self,
        config: WorkerConfig,
        *,
        embedded_kafka_port: int | None = None,
        worker_id: str = "127.0.0.1:8083",
        tls: Tls | None = None,
    ) -> None:
        """``tls`` is the TLS setup of the REST API, which other workers of the cluster use."""
        self.config = config
        self.worker_id = worker_id
        self.url = f"{'https' if tls else 'http'}://{worker_id}"
        self._tls = tls
        self.plugins = Plugins(config.properties)
        self.own = OwnAnswers(self.plugins, config.group_id, config.rules)
        """What it answers before it has started."""
        self._herder: Herder | None = None
        self._locks: dict[str, threading.RLock] = defaultdict(threading.RLock)
        """Held during every change of a connector."""
        self._kafka_port = embedded_kafka_port
        self._broker: EmbeddedBroker | None = None
        self._undo: list[Callable[[], None]] = [self.own.close]
        self._session: LazySession | None = None
        self._stopped = threading.Event()

    @property
    def bootstrap_servers(self) -> str:
        """The brokers this worker uses."""
        given = self.config["bootstrap.servers"]
        if given:
            return str(given)
        return self._broker.bootstrap_servers if self._broker else ""

    @property
    def started(self) -> bool:
        """Whether it has read its topics, and so has a herder."""
        return self._herder is not None

    @property
    def herder(self) -> Herder:
        """Every action on the cluster; Unavailable while the worker has not read its topics."""
        if self._herder is None:
            raise Unavailable(STARTING)
        return self._herder

    def leads(self) -> bool:
        """Whether this worker is the leader at this moment."""
        return self._herder is not None and self._herder.leads()

    def start(self, progress: Progress | None = None) -> None:
        """Start; after an error nothing is left running."""
        say = progress or (lambda _: None)
        try:
            self._start(say)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop cleanly, in the reverse order of starting; may be called twice."""
        self._stopped.set()
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except Exception:
                log.exception("stopping: %s failed", undo)

    def _start(self, say: Progress) -> None:
        self.config.data_dir.mkdir(parents=True, exist_ok=True)
        self.config.warn_of_ignored()
        pipeline_recipe(self.plugins, {}, {}, self.config.converters())  # are its classes there?
        java = find_java()
        jars = ensure_jars(java, say)
        if not self.config["bootstrap.servers"]:
            self._start_broker(java, jars, say)
        say("reading the stores")
        context, cluster, cluster_id = self._build(java, jars)
        lock = self._locks.__getitem__
        self._herder = herder = Herder(self.own, context, cluster, cluster_id, lock)
        say("joining the worker group")
        self._join(context, cluster, herder)

    def _start_broker(self, java: Java, jars: Jars, say: Progress) -> None:
        say("starting Kafka")
        broker = EmbeddedBroker(self.config.data_dir / "kafka", java, jars, port=self._kafka_port)
        self._undo.append(broker.stop)
        broker.start(progress=say)
        self._broker = broker

    def _build(self, java: Java, jars: Jars) -> tuple[Context, Cluster, str]:
        config = self.config
        connection = config.connection(self.bootstrap_servers)
        hide([*connection.secrets(), *config.secrets])
        admin = clients.admin(connection)
        watch = OutageWatch(admin, connection.bootstrap_servers)
        watch.start()
        self._undo.append(watch.stop)
        refuse_foreign_group(admin, connection, config.group_id)
        config.create_storage_topics(admin)
        stores = Stores.of(config, connection, admin)
        stores.open(self._undo)
        kafka = admin.list_topics(timeout=10)
        connection = replace(connection, few_brokers=clients.few_brokers(kafka))
        assignments = self._assignments(connection, admin, stores)
        runners = Runners()
        engine = self._engine(java, jars, assignments.standing, runners, len(kafka.brokers))
        context = self._context(connection, admin, stores, assignments, engine)
        leadership = self._leadership(context, stores, assignments, runners)
        cluster = Cluster(assignments.standing, runners, leadership, self._locks.__getitem__)
        self._follow(context, cluster, stores)
        # To the type checker it is only the None it is initialised with.
        return context, cluster, cast("str | None", kafka.cluster_id) or ""

    def _context(
        self,
        connection: Connection,
        admin: GroupAdmin,
        stores: Stores,
        assignments: Assignments,
        engine: Engine,
    ) -> Context:
        return Context(
            worker=self.config,
            worker_id=self.worker_id,
            connection=connection,
            admin=admin,
            plugins=self.plugins,
            engine=engine,
            scheduler=self._scheduler(),
            configs=stores.configs,
            offsets=stores.offsets,
            statuses=stores.statuses,
            copies=stores.copies,
            ends=EndOffsets(admin),
            membership=assignments.standing.membership,
            generation=assignments.standing.generation,
            still_wanted=assignments.still_wanted,
            alone=assignments.alone,
            put_tasks=assignments.put_tasks,
        )

    def _assignments(
        self, connection: Connection, admin: GroupAdmin, stores: Stores
    ) -> Assignments:
        assigner = Assigner(
            worker_id=self.worker_id,
            url=self.url,
            group_id=self.config.group_id,
            admin=admin,
            connection=connection,
            configs=stores.configs,
            roster=stores.roster,
            topic=stores.workers,
        )
        tls = self._tls.towards_peers() if self._tls else None
        peers = Peers(self.worker_id, stores.roster, stores.configs.session_keys, tls)
        self._undo.append(peers.close)
        standing = Standing(worker_topic(self.config.group_id))
        return Assignments(self.worker_id, standing, stores.configs, stores.roster, assigner, peers)

    def _leadership(
        self, context: Context, stores: Stores, assignments: Assignments, runners: Runners
    ) -> Leadership:
        control = ConnectorControl(context, runners, stores.roster)
        foreign = ForeignLead(stores.configs, stores.copies, stores.roster, stores.workers)
        return Leadership(context, assignments, control, foreign)

    def _follow(self, context: Context, cluster: Cluster, stores: Stores) -> None:
        """From now on, apply what the topics say."""

        def assigned(name: str) -> None:
            if not cluster.leadership.assignments.owns(name):
                cluster.runners.doubt(name)
            cluster.changed(name)

        stores.configs.listen(
            Listener(cluster.changed, cluster.lead_again, self.own.set_logger_level)
        )
        stores.statuses.listen(
            owns=cluster.leadership.assignments.owns,
            on_task=partial(context.metrics.note_state, self.worker_id),
        )
        stores.roster.listen(on_worker=cluster.ask_for_balance, on_assignment=assigned)

    def spark(self) -> SparkSession:
        """The session that its connectors use, which this starts if need be."""
        if self._session is None:
            raise Unavailable("The worker is starting: it has no Spark yet.")
        return self._session.get()

    def _engine(
        self, java: Java, jars: Jars, standing: Standing, runners: Runners, brokers: int
    ) -> Engine:
        settings = SparkSettings(
            data_dir=self.config.data_dir,
            jars=jars.spark,
            java_home=java.home,
            worker_config=self.config.spark(),
        )
        self._session = LazySession(settings)
        engine = Engine(
            self._session,
            standing.current_membership,
            carrier_bytes=self.config["carrier.memory.max.bytes"],
            brokers=brokers,
            expecting=lambda: len(runners) > 0,
        )
        self._undo.append(engine.stop)
        return engine

    def _scheduler(self) -> Scheduler:
        scheduler = Scheduler()
        scheduler.start()
        self._undo.append(scheduler.stop)
        return scheduler

    def _join(self, context: Context, cluster: Cluster, herder: Herder) -> None:
        config = self.config
        membership = GroupMember(
            context.connection,
            config.group_id,
            worker_topic(config.group_id),
            on_joined=cluster.joined,
            on_elected=cluster.elected,
            on_deposed=cluster.deposed,
            timings=config.membership_timings(),
        )
        keeper = SinkKeeper(context, cluster, self._locks.__getitem__)
        restarter = AutoRestarter(context, herder.do_as_told)
        for part in (membership, keeper, restarter):
            part.start()
            self._undo.append(part.stop)
        self._undo.append(cluster.stop)
        if not cluster.wait_until_settled(ELECTION_SECONDS):
            refuse_foreign_group(context.admin, context.connection, config.group_id)
            raise BrokerUnavailable(
                f"the worker could not join group {config.group_id} within "
                f"{ELECTION_SECONDS:.0f} s. Check that the brokers are healthy, then start again."
            )
