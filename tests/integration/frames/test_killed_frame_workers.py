"""Workers, processes and jobs of frame turns that die or hang in the middle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow.parquet import ParquetFile

from format_jars import spark_jars
from penstock.client import ConnectClient
from penstock.embedded import Java
from penstock.embedded.postgres import USER
from sink_offsets import entry, in_group
from spark_cluster import spark_cluster
from tables import Tables
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
PARTITIONS, EACH = 3, 20_000
Start = Callable[..., WorkerProcess]


@pytest.fixture
def filled(topics: Topics, name: str) -> str:
    topics.create(name, PARTITIONS)
    topics.create(f"{name}-out", PARTITIONS)
    for partition in range(PARTITIONS):
        values = (b"%d" % (n * PARTITIONS + partition) for n in range(EACH))
        topics.produce(name, values, partition=partition)
    return name


def framed(name: str, **keys: str) -> dict[str, str]:
    config = {key.replace("_", "."): value for key, value in keys.items()}
    own = {"connector.class": "Framed", "topics": name, "output": f"{name}-out", "tasks.max": "3"}
    return {**own, **config}


def produced(topics: Topics, name: str) -> int:
    return sum(topics.end(f"{name}-out", partition) for partition in range(PARTITIONS))


def await_end(topics: Topics, name: str) -> None:
    ends = [entry(name, p, topics.end(name, p)) for p in range(PARTITIONS)]
    group = f"connect-{name}"
    eventually(lambda: in_group(topics, group) == ends, within=300, what="all offsets", every=0.5)


def assert_each_once(topics: Topics, name: str) -> None:
    await_end(topics, name)
    found = Counter(topics.values(f"{name}-out"))
    assert len(found) == PARTITIONS * EACH
    assert set(found.values()) == {1}


def test_a_worker_killed_in_the_middle_of_turns(start: Start, topics: Topics, filled: str) -> None:
    worker = start()
    worker.client.create(filled, framed(filled))
    for part in (1, PARTITIONS * EACH // 3):
        eventually(lambda: produced(topics, filled) > part, within=180, every=0.05)  # noqa: B023 (called at once)
        worker.kill()
        worker.start()
    assert_each_once(topics, filled)


def test_files_of_a_worker_killed_in_the_middle_of_turns(
    start: Start, topics: Topics, filled: str, tmp_path: Path
) -> None:
    """Before, while and after its files are put in their place: each record is there once."""
    out = tmp_path / "out"
    worker = start()
    sink = {"connector.class": "SparkSink", "topics": filled, "path": str(out), "select": "value"}
    worker.client.create(filled, sink)
    for turns in (1, 2):
        eventually(lambda: len(list(out.glob("turn=*"))) >= turns, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        worker.start()
    await_end(topics, filled)
    files = out.glob("turn=*/*.parquet")
    values = Counter(
        v for file in files for v in ParquetFile(file).read().column("value").to_pylist()
    )
    assert len(values) == PARTITIONS * EACH
    assert set(values.values()) == {1}


def test_letters_of_a_worker_killed_in_the_middle_of_turns(
    start: Start, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Each record is in the files once, or its dead letter is there once."""
    letters, out, worker = f"{name}-letters", tmp_path / "out", start()
    topics.create(name, PARTITIONS)
    for partition in range(PARTITIONS):
        numbers = range(partition, PARTITIONS * EACH, PARTITIONS)
        topics.produce(
            name, (b"x" if n % 50 < 1 else b"%d" % n for n in numbers), partition=partition
        )
    sink = {"connector.class": "SparkSink", "topics": name, "path": str(out), "select": "value.n"}
    sink |= {"value.format": "csv", "value.schema": "n BIGINT", "errors.tolerance": "all"}
    topic = {"errors.deadletterqueue.topic.name": letters}
    replicas = {"errors.deadletterqueue.topic.replication.factor": "1"}
    worker.client.create(name, {**sink, **topic, **replicas})
    for count in (1, 1 + PARTITIONS * EACH // 100):
        eventually(lambda: topics.end(letters) >= count, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        worker.start()
    await_end(topics, name)
    files = out.glob("turn=*/*.parquet")
    found = [v for file in files for v in ParquetFile(file).read().column("n").to_pylist()]
    assert sorted(found) == [n for n in range(PARTITIONS * EACH) if n % 50]
    assert len(topics.values(letters)) == PARTITIONS * EACH // 50


def test_a_database_of_a_worker_killed_in_the_middle_of_turns(
    start: Start, topics: Topics, filled: str, tables: Tables, java: Java
) -> None:
    """At least once: nothing is missing, and what is there twice is what was killed."""
    worker = start(spark_jars=spark_jars(java, "postgres"))
    sink = {
        "connector.class": "SparkSink",
        "topics": filled,
        "format": "jdbc",
        "select": "CAST(value AS BIGINT) AS n",
        "format.options.driver": "org.postgresql.Driver",
        "format.options.url": tables.postgres.jdbc_url,
        "format.options.user": USER,
        "format.options.password": tables.postgres.password,
        "format.options.dbtable": f"{tables.schema}.numbers",
    }
    tables.run("CREATE TABLE numbers (n BIGINT)")
    worker.client.create(filled, sink)
    for part in (0, PARTITIONS * EACH // 3):
        eventually(
            lambda: tables.run("SELECT count(*) FROM numbers")[0][0] > part,  # noqa: B023 (called at once)
            within=180,
            every=0.02,
        )
        worker.kill()
        worker.start()
    await_end(topics, filled)
    found = Counter(dict(tables.run("SELECT n, count(*) FROM numbers GROUP BY n")))
    assert sorted(found) == list(range(PARTITIONS * EACH))
    assert max(found.values()) <= 3, "twice killed"


def test_a_reattempt_of_sparks_touches_nothing(
    start: Start, topics: Topics, filled: str, tmp_path: Path
) -> None:
    """Rule 4: a process of the turn dies, and Spark tries its task again by itself."""
    worker = start(spark_master="local[4,4]")
    worker.client.create(filled, framed(filled, python=f"exit-once {tmp_path / 'struck'}"))
    assert_each_once(topics, filled)
    assert (tmp_path / "struck").exists()


def test_a_process_that_crashes_is_no_failure_and_one_that_always_does_is(
    start: Start, topics: Topics, filled: str, tmp_path: Path
) -> None:
    worker = start()
    worker.client.create(filled, framed(filled, python=f"exit-once {tmp_path / 'struck'}"))
    assert_each_once(topics, filled)
    crashing = f"exit-once {tmp_path / 'no' / 'such' / 'folder'}"
    assert worker.client.status(filled)["connector"]["state"] == "RUNNING"
    worker.client.put_config(filled, framed(filled, python=crashing))
    topics.produce(filled, [b"x"] * 6000)
    eventually(lambda: "FAILED" in states(worker.client, filled), within=120, what="a failure")


def states(client: ConnectClient, name: str) -> list[str]:
    return [task["state"] for task in client.status(name)["tasks"]]


def test_stop_while_a_turn_hangs_and_what_it_does_afterwards(
    start: Start, topics: Topics, filled: str, tmp_path: Path
) -> None:
    """Rule 6: the stop does not wait for it, and what hung cannot commit any more."""
    gate = tmp_path / "gate"
    gate.touch()
    worker = start(spark_python_task_killTimeout="30s")
    worker.client.create(filled, framed(filled, python=f"hang-while {gate}"))
    eventually(gate.with_suffix(".hung").exists, within=120, what="a turn that hangs")
    worker.client.stop(filled)
    assert worker.client.status(filled)["connector"]["state"] == "STOPPED"
    gate.unlink()
    worker.client.resume(filled)
    assert_each_once(topics, filled)


@pytest.mark.crowd
def test_an_executor_killed_in_the_middle_of_a_turn(
    start: Start, topics: Topics, filled: str, tmp_path: Path, java: Java
) -> None:
    with spark_cluster(tmp_path, java) as spark:
        worker = start(
            spark_master=spark.address,
            spark_driver_host="127.0.0.1",
            spark_executor_memory="512m",
            spark_executor_cores="2",
            spark_cores_max="4",
        )
        worker.client.create(filled, framed(filled))
        eventually(lambda: produced(topics, filled) > 0, within=180, what="a turn")
        eventually(spark.executors, within=120, what="executors")[0].kill()
        assert_each_once(topics, filled)
