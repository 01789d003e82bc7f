"""The Spark settings of a worker; no Spark is started."""

from __future__ import annotations

import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.engine.driver.session import (
    FIXED,
    LazySession,
    SessionEnded,
    SparkSettings,
    default_master,
)


def conf(folder: Path, **given: str) -> dict[str, str]:
    config = {key.replace("_", "."): value for key, value in given.items()}
    return SparkSettings(folder, worker_config=config).conf()


def test_the_workers_spark_keys_win_over_the_defaults(tmp_path: Path) -> None:
    assert conf(tmp_path)["spark.driver.memory"] == "1g"
    assert conf(tmp_path, spark_driver_memory="3g")["spark.driver.memory"] == "3g"
    assert conf(tmp_path, spark_anything_else="x")["spark.anything.else"] == "x"


def test_other_keys_of_the_worker_are_none_of_sparks_business(tmp_path: Path) -> None:
    config = {"group.id": "g", "sasl.password": "hunter2"}
    made = SparkSettings(tmp_path, worker_config=config).conf()
    assert all(key.startswith("spark.") for key in made)
    assert "hunter2" not in str(made)


@pytest.mark.parametrize("key", list(FIXED))
def test_what_the_protocol_rests_on_cannot_be_overridden(tmp_path: Path, key: str) -> None:
    made = SparkSettings(tmp_path, worker_config={key: "something else"}).conf()
    assert made[key] == FIXED[key]
    assert FIXED["spark.speculation"] == "false"


def test_a_query_gets_no_variable_of_the_environment(tmp_path: Path) -> None:
    assert conf(tmp_path)["spark.sql.variable.substitute"] == "false"


@pytest.mark.parametrize(
    "key",
    [
        "spark.kafka.sasl.jaas.config",
        "ssl.keystore.password",
        "kafka.SASL.mechanism",
        "aws.secret.access.key",
        "spark.hadoop.fs.s3a.access.key",
        "spark.hadoop.fs.s3a.accesskey",
        "api.token",
    ],
)
def test_secrets_are_redacted(tmp_path: Path, key: str) -> None:
    assert re.search(conf(tmp_path)["spark.redaction.regex"], key)


def test_a_local_master_is_reached_from_this_machine_only(tmp_path: Path) -> None:
    made = conf(tmp_path)
    assert made["spark.driver.host"] == "127.0.0.1"
    assert made["spark.driver.bindAddress"] == "127.0.0.1"
    assert made["spark.ui.enabled"] == "false"


def test_a_cluster_must_reach_the_driver(tmp_path: Path) -> None:
    made = conf(tmp_path, spark_master="spark://boss:7077")
    assert "spark.driver.host" not in made
    assert "spark.driver.bindAddress" not in made


@pytest.mark.parametrize(
    ("config", "slots"),
    [
        ({"spark.master": "local"}, 1),
        ({"spark.master": "local[3]"}, 3),
        ({"spark.master": "local[12,4]"}, 12),
        ({"spark.master": "spark://boss:7077", "spark.cores.max": "40"}, 40),
        ({"spark.master": "spark://boss:7077"}, 8),
    ],
)
def test_slots(tmp_path: Path, config: dict[str, str], slots: int) -> None:
    assert SparkSettings(tmp_path, worker_config=config).slots == slots


def test_slots_are_plenty_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, slots in ((None, 8), (1, 8), (2, 8), (16, 64)):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert default_master() == f"local[{slots}]"
        assert SparkSettings(tmp_path).slots == slots


def test_slots_of_all_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert SparkSettings(tmp_path, worker_config={"spark.master": "local[*]"}).slots == 6


def test_leases_of_a_cluster_reach_the_driver_where_the_worker_says(tmp_path: Path) -> None:
    assert SparkSettings(tmp_path).driver_host == SparkSettings(tmp_path).bind_host == "127.0.0.1"
    config = {"spark.master": "spark://boss:7077", "spark.driver.host": "10.1.2.3"}
    made = SparkSettings(tmp_path, worker_config=config)
    assert made.driver_host == "10.1.2.3" != made.bind_host
    behind = SparkSettings(
        tmp_path, worker_config={**config, "spark.driver.bindAddress": "10.9.9.9"}
    )
    assert (behind.driver_host, behind.bind_host) == ("10.1.2.3", "10.9.9.9")


def test_the_jvms_log_goes_to_a_file_of_its_own_beside_the_users_options(tmp_path: Path) -> None:
    options = conf(tmp_path, spark_driver_extraJavaOptions="-Dmine=1")
    text = options["spark.driver.extraJavaOptions"]
    assert text.endswith(" -Dmine=1")
    found = re.search(r"-Dlog4j2\.configurationFile=file:(\S+)", text)
    assert found is not None
    assert str(tmp_path / "spark.log") in Path(found[1]).read_text()


def test_jars_are_handed_to_spark(tmp_path: Path) -> None:
    settings = SparkSettings(tmp_path, jars=[Path("/a/one.jar"), Path("/b/two.jar")])
    assert settings.conf()["spark.jars"] == "/a/one.jar,/b/two.jar"
    mine = {"spark.jars": "/c/mine.jar"}
    more = SparkSettings(tmp_path, jars=[Path("/a/one.jar")], worker_config=mine)
    assert more.conf()["spark.jars"] == "/a/one.jar,/c/mine.jar", "beside our own"
    assert SparkSettings(tmp_path, worker_config=mine).conf()["spark.jars"] == "/c/mine.jar"


def test_a_session_that_was_never_used_was_never_started(tmp_path: Path) -> None:
    session = LazySession(SparkSettings(tmp_path))
    assert session._session is None
    session.stop()
    session.stop()
    assert not (tmp_path / "spark").exists()


CONTEXT = "penstock.engine.driver.session.SparkContext"


class Jvm:
    """What PySpark gives for a JVM that it has launched; it ends when it is told to."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.terminate = self.shutdown = self.ended.set
        self.proc = self
        self.stdin = None

    def wait(self, timeout: float) -> None:
        assert self.ended.wait(timeout)


@pytest.fixture
def jvm(monkeypatch: pytest.MonkeyPatch) -> Jvm:
    launched = Jvm()
    # A session sets it for good.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setattr("penstock.engine.driver.session.launch_gateway", lambda *_: launched)
    return launched


def test_a_jvm_whose_context_does_not_start_is_not_left_behind(
    tmp_path: Path, jvm: Jvm, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("no such master")

    monkeypatch.setattr(CONTEXT, Mock(side_effect=fail, _lock=threading.Lock()))
    with pytest.raises(RuntimeError, match="no such master"):
        LazySession(SparkSettings(tmp_path)).get()
    assert jvm.ended.is_set()


def test_a_session_that_is_ended_while_it_starts_ends_at_once(
    tmp_path: Path, jvm: Jvm, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = threading.Event()

    def start(**_: object) -> None:
        starting.set()
        assert jvm.ended.wait(20)
        raise RuntimeError("the JVM is gone")

    monkeypatch.setattr(CONTEXT, Mock(side_effect=start, _lock=threading.Lock()))
    lazy = LazySession(SparkSettings(tmp_path))
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(lazy.get)
        assert starting.wait(20)
        lazy.stop()
        assert isinstance(asked.exception(), RuntimeError)
    assert lazy._session is None
    with pytest.raises(SessionEnded):
        lazy.get()
