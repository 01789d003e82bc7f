"""The one Spark session of a worker, started when the first turn needs it.

Every setting is here. ``spark.*`` keys of the worker's configuration override the defaults, except
the few that the protocol depends on (``FIXED``); ``spark.jars`` adds to our own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from penstock.engine.driver.spark_output import SparkOutput

log = logging.getLogger(__name__)

DRIVER_MEMORY = "1g"
BUS_MILLISECONDS = 2000
PRINTING = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""With these, PySpark prints every error about a query to the terminal, and raises it as well."""
REDACTION = "(?i)secret|password|token|access[.]?key|jaas|sasl|ssl"

LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {path}
appender.file.filePattern = {path}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
"""


@dataclass(frozen=True)
class SparkSettings:
    """Where the session runs and where it keeps its files."""

    data_dir: Path
    jars: Sequence[Path] = ()
    java_home: Path | None = None
    worker_config: Mapping[str, str] = field(default_factory=dict)

    @property
    def master(self) -> str:
        """The master that will be used."""
        return self.worker_config.get("spark.master") or default_master()

    @property
    def local(self) -> bool:
        """Whether everything runs on this machine, in one JVM."""
        return self.master.startswith("local")

    @property
    def driver_host(self) -> str:
        """Where executors, and the leases in them, reach this worker."""
        if self.local:
            return "127.0.0.1"
        return self.worker_config.get("spark.driver.host") or socket.gethostbyname(
            socket.gethostname()
        )

    @property
    def bind_host(self) -> str:
        """Where this worker listens for carriers: executors may reach it by another address."""
        if self.local:
            return "127.0.0.1"
        return self.worker_config.get("spark.driver.bindAddress") or "0.0.0.0"  # noqa: S104 (see Hub)

    @property
    def slots(self) -> int:
        """How many tasks Spark may run at once."""
        found = re.match(r"local(?:\[(\d+|\*))?", self.master)
        if found is None:
            return max(1, self._cluster_cores() // self._number("spark.task.cpus", 1))
        count = found.group(1) or "1"
        return (os.cpu_count() or 1) if count == "*" else int(count)

    def _cluster_cores(self) -> int:
        """As the worker's config says; by default some, which Spark grants or not."""
        if "spark.cores.max" in self.worker_config:
            return self._number("spark.cores.max", 8)
        for key in ("spark.dynamicAllocation.maxExecutors", "spark.executor.instances"):
            if key in self.worker_config:
                return self._number(key, 1) * self._number("spark.executor.cores", 1)
        return 8

    def _number(self, key: str, otherwise: int) -> int:
        return int(self.worker_config.get(key, otherwise))

    def conf(self) -> dict[str, str]:
        """Every Spark setting of this worker."""
        given = {k: v for k, v in self.worker_config.items() if k.startswith("spark.")}
        conf = {**self._defaults(), **given, **FIXED}
        conf["spark.jars"] = ",".join(filter(None, [*map(str, self.jars), given.get("spark.jars")]))
        options = conf.get("spark.driver.extraJavaOptions", "")
        conf["spark.driver.extraJavaOptions"] = f"{self._log_option()} {options}".strip()
        return conf

    def _defaults(self) -> dict[str, str]:
        defaults = {
            "spark.master": self.master,
            "spark.app.name": "penstock",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": DRIVER_MEMORY,
            "spark.local.dir": str(self.data_dir / "spark"),
            "spark.sql.warehouse.dir": str(self.data_dir / "spark" / "warehouse"),
            "spark.sql.shuffle.partitions": "4",
            "spark.redaction.regex": REDACTION,
            "spark.executorEnv.POLARS_MAX_THREADS": "1",
            "spark.executorEnv.OMP_NUM_THREADS": "1",
            # A worker lives long: what Spark keeps about finished jobs must not grow.
            "spark.ui.retainedJobs": "50",
            "spark.ui.retainedStages": "50",
            "spark.ui.retainedTasks": "1000",
            "spark.sql.ui.retainedExecutions": "50",
            "spark.worker.cleanup.enabled": "true",
            # A Python worker that is ended by a signal prints where it was.
            "spark.python.worker.faulthandler.enabled": "true",
        }
        if self.local:
            defaults |= {
                "spark.driver.host": "127.0.0.1",
                "spark.driver.bindAddress": "127.0.0.1",
            }
        return defaults

    def _log_option(self) -> str:
        config = self.data_dir / "spark-log4j2.properties"
        config.write_text(LOG4J.format(path=self.data_dir / "spark.log"))
        return f"-Dlog4j2.configurationFile=file:{config} -XX:+UseSerialGC -XX:TieredStopAtLevel=4"


FIXED = {
    # A second copy of a lease would fence the first.
    "spark.speculation": "false",
    "spark.python.daemon.module": "penstock.engine.daemon",
    "spark.python.worker.reuse": "true",
    "spark.scheduler.mode": "FAIR",
    # Spark would put variables of the worker's environment into any ${env:…} of a query.
    "spark.sql.variable.substitute": "false",
}


def default_master() -> str:
    """More slots than cores: leases mostly wait, and slots are cheap."""
    return f"local[{max(8, 4 * (os.cpu_count() or 1))}]"


@dataclass(frozen=True)
class Application:
    """How Spark knows a session."""

    id: str
    ui: str | None
    """The address of its web UI, if it has one."""


class SessionEnded(RuntimeError):  # noqa: N818 (nothing went wrong)
    """The session has ended: the worker is shutting down."""


class LazySession:
    """Starts the session at first use, and again if its JVM has died. Thread-safe."""

    def __init__(self, settings: SparkSettings) -> None:
        self.settings = settings
        self._output = SparkOutput(settings.data_dir)
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._starting: JavaGateway | None = None
        self._ended = False
        self.application: Application | None = None
        """Of the current session, once there is one."""
        self.starting = False
        """Whether it is being started, which takes some seconds, while records wait."""

    def has_lost(self, session: SparkSession) -> bool:
        """Whether the JVM of the session that ``get`` returned is gone; another may run already."""
        return session is not self._session or _dead(session)

    def get(self) -> SparkSession:
        """The session; the first call takes seconds. SessionEnded after ``stop``."""
        self._output.trim()
        with self._lock:
            if self._session is not None and _dead(self._session):
                log.warning("Spark's JVM has died; starting another")
                self._discard()
            if self._session is None:
                self._refuse_if_ended()
                self._session = self._announced_start()
            return self._session

    def lost_executors(self, *, wait: bool = False) -> frozenset[str]:
        """Executors that the current session has lost lately; on a local master there are none.

        Spark reports a loss with a delay: use ``wait``. It remembers only the last hundred.
        """
        session = self._session
        if session is None or self.settings.local or _dead(session):
            return frozenset()
        context = session.sparkContext._jsc.sc()
        if wait:
            with contextlib.suppress(Py4JError):  # Spark is busy: use what is known so far
                context.listenerBus().waitUntilEmpty(BUS_MILLISECONDS)
        return _executors(context, active=False) - _executors(context, active=True)

    def stop(self) -> None:
        """End the session and its JVM for good, even if it is just starting."""
        self._ended = True
        if (jvm := _process(self._starting)) is not None:
            jvm.terminate()
        with self._lock:
            if self._session is not None:
                self._discard()

    def _announced_start(self) -> SparkSession:
        log.info("starting Spark: records wait for it, some seconds")
        self.starting, began = True, time.monotonic()
        try:
            session = self._start()
        finally:
            self.starting = False
        log.info("Spark is ready after %.1f s", time.monotonic() - began)
        context = session.sparkContext
        self.application = Application(context.applicationId, context.uiWebUrl)
        if self.application.ui:
            log.info("Spark's web UI is at %s", self.application.ui)
        return session

    def _start(self) -> SparkSession:
        for name in PRINTING:
            logging.getLogger(name).disabled = True
        conf = SparkConf().setAll(list(self.settings.conf().items()))
        self._starting = gateway = self._launch(conf)
        try:
            # `stop` has either seen the starting JVM, or is seen here.
            self._refuse_if_ended()
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
        except BaseException:
            _end_jvm(gateway)
            raise
        finally:
            self._starting = None

    def _refuse_if_ended(self) -> None:
        if self._ended:
            raise SessionEnded("the worker is shutting down")

    def _launch(self, conf: SparkConf) -> JavaGateway:
        settings = self.settings
        (settings.data_dir / "spark").mkdir(parents=True, exist_ok=True)
        # Spark's Python workers must use this interpreter, which has the plugins installed.
        os.environ["PYSPARK_PYTHON"] = sys.executable
        if settings.java_home is not None:
            os.environ["JAVA_HOME"] = str(settings.java_home)
        if settings.local and conf.get("spark.ui.enabled") == "true":
            # The web UI heeds no setting: without this it listens on all addresses.
            os.environ["SPARK_LOCAL_IP"] = settings.bind_host
        # The JVM and its Python workers print to a separate file, not to the terminal.
        with self._output.open() as output:
            return launch_gateway(conf, {"stdout": output, "stderr": output})

    def _discard(self) -> None:
        session, self._session = self._session, None
        self.application = None
        gateway = session.sparkContext._gateway if session else None
        try:
            if session is not None:
                session.stop()
        except Exception as error:  # noqa: BLE001 (a dying JVM answers with anything)
            log.debug("stopping Spark: %s", error)
        if gateway is not None:
            _end_jvm(gateway)


def _executors(context: Any, *, active: bool) -> frozenset[str]:
    """The ids of the executors that Spark knows, or of those that are alive."""
    found = context.statusStore().executorList(active)
    return frozenset(str(found.apply(number).id()) for number in range(found.size()))


def _process(gateway: JavaGateway | None) -> subprocess.Popen[bytes] | None:
    """The JVM behind a gateway, if it is ours."""
    return getattr(gateway, "proc", None)


def _end_jvm(gateway: JavaGateway) -> None:
    """PySpark leaves its JVM running until our process ends; a stopping worker ends it now."""
    with SparkContext._lock:
        # A context whose JVM did not answer takes it to be still there.
        SparkContext._active_spark_context = None
    process = _process(gateway)
    if process is None:
        return
    with SparkContext._lock:
        SparkContext._gateway = None
        SparkContext._jvm = None
    gateway.shutdown()
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _dead(session: SparkSession) -> bool:
    process = _process(session.sparkContext._gateway)
    if process is not None and process.poll() is not None:
        return True
    return session.sparkContext._jsc is None or _stopped(session)


def _stopped(session: SparkSession) -> bool:
    """A cluster's master ends an application whose executors do not start."""
    try:
        return bool(session.sparkContext._jsc.sc().isStopped())
    except Exception:  # noqa: BLE001 (a dying JVM answers with anything)
        return True
