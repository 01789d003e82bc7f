"""One broker and one Spark session per run; every test has its own names."""

from __future__ import annotations

import itertools
import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from bench.search_server import SearchServer
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java, ensure_jars, find_java
from penstock.embedded.postgres import EmbeddedPostgres
from penstock.rest.access.protection import Protection
from penstock.rest.app import create_app
from penstock.rest.consumers_api import ConsumersApi
from penstock.rest.server import RestServer
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.worker import Worker, WorkerConfig
from python_path import PLUGINS, with_path
from s3_endpoint import S3Endpoint
from schema_registry import apicurio
from shares import belongs
from tables import Tables
from topics import Topics

PROVIDERS = "org.apache.kafka.common.config.provider."
_count = itertools.count()

# A shell starts its background jobs with Ctrl-C ignored, and what they start inherits that: tests
# that interrupt a program would wait for it in vain.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is the machine's affair, and tests run beside each other.
settings.register_profile(
    "beside-others", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("beside-others")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The heavy tests come last: whatever else is wrong is known by then.

    With PENSTOCK_SHARE (``1/4``), only that share of them.
    """
    items.sort(key=_heavy)
    if share := os.environ.get("PENSTOCK_SHARE"):
        others = [item for item in items if _heavy(item) and not belongs(item.path.name, share)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A share may have no test of a kind: that is no failure."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and os.environ.get("PENSTOCK_SHARE"):
        session.exitstatus = pytest.ExitCode.OK


def _heavy(item: pytest.Item) -> bool:
    return item.get_closest_marker("heavy") is not None


@pytest.fixture(autouse=True)
def no_log_handler_stays() -> Iterator[None]:
    """A handler that a test leaves behind writes to that test's output, which is closed by then.

    Whatever a worker's thread logs later would be a traceback on the stderr of another test.
    """
    before = [*logging.root.handlers, logging.raiseExceptions]
    yield
    left = [
        each for each in [*logging.root.handlers, logging.raiseExceptions] if each not in before
    ]
    assert not left, f"the test has changed how this process logs: {left}"


@pytest.fixture(scope="session")
def java() -> Java:
    return find_java()


@pytest.fixture(scope="session")
def jars(java: Java) -> Jars:
    return ensure_jars(java)


@pytest.fixture(scope="session")
def broker(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[EmbeddedBroker]:
    """The broker of this run."""
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), java, jars) as running:
        yield running


@pytest.fixture(scope="session")
def topics(broker: EmbeddedBroker) -> Topics:
    """The topics of this run, from outside."""
    return Topics(broker.bootstrap_servers)


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """The PostgreSQL of this run; root's temporary folders of pytest are closed to its user."""
    with TemporaryDirectory(prefix="penstock-postgres-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data", {"fsync": "off"}) as running:
            yield running


@pytest.fixture
def tables(postgres: EmbeddedPostgres) -> Iterator[Tables]:
    """A schema of the test's own in this run's PostgreSQL."""
    made = Tables(postgres, f"schema_{next(_count)}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Endpoint]:
    """The S3 endpoint of this run; each test has its own buckets."""
    with S3Endpoint(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="session")
def search(tmp_path_factory: pytest.TempPathFactory, java: Java) -> Iterator[SearchServer]:
    """The OpenSearch of this run; each test has its own indexes."""
    with SearchServer(tmp_path_factory.mktemp("search"), java) as running:
        yield running


@pytest.fixture(scope="session")
def schema_registry(tmp_path_factory: pytest.TempPathFactory, java: Java) -> Iterator[str]:
    """Where the schema registry of this run is; each test has its own subjects."""
    with apicurio(tmp_path_factory.mktemp("registry"), java) as url:
        yield url


@pytest.fixture(scope="session")
def secrets_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What connectors may refer to through the providers ``file`` and ``dir``."""
    return tmp_path_factory.mktemp("secrets")


@pytest.fixture(scope="session")
def worker(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, secrets_folder: Path
) -> Iterator[Worker]:
    """The worker of this run, with short leases, so that tests see many of them."""
    os.environ["PYTHONPATH"] = with_path(PLUGINS)
    config = WorkerConfig.from_properties(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": "suite",
            "connector.client.config.override.policy": "All",
            "config.providers": "file,dir",
            "config.providers.file.class": PROVIDERS + "FileConfigProvider",
            "config.providers.file.param.allowed.paths": str(secrets_folder),
            "config.providers.dir.class": PROVIDERS + "DirectoryConfigProvider",
            "config.providers.dir.param.allowed.paths": str(secrets_folder),
            "lease.max.ms": "8000",
            "turn.grace.ms": "4000",
            "spark.driver.memory": "2g",
            # How long a cancelled task lives on: long enough for a test to do things meanwhile.
            "spark.python.task.killTimeout": "30s",
        },
        tmp_path_factory.mktemp("worker"),
    )
    running = Worker(config)
    running.start()
    # Now, not within the patience of the test that happens to come first.
    running.herder._context.engine.session.get()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def client(worker: Worker) -> Iterator[ConnectClient]:
    """The REST API of this run's worker."""
    consumers = ConsumersApi(
        lambda: worker.config.connection(worker.bootstrap_servers), worker.config.own_topics
    )
    protection = Protection.of(RestConfig(), worker.config.rules.providers)
    app = create_app(worker.herder, protection=protection, consumers=consumers)
    server = RestServer(app, "127.0.0.1", 0)
    server.start()
    yield ConnectClient(f"http://127.0.0.1:{server.port}")
    server.stop()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    base = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")
    return f"{base[:60]}-{next(_count)}"


@pytest.fixture
def connectors(client: ConnectClient) -> Iterator[ConnectClient]:
    """The REST API; what the test has created is deleted after it."""
    before = set(client.connectors())
    yield client
    for created in set(client.connectors()) - before:
        client.delete(created)
