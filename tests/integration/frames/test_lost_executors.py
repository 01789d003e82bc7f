"""A standalone cluster whose executors are killed in each stage of a frame turn."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest
from pyarrow.parquet import ParquetFile

from files import lines_of
from penstock.embedded import Java
from penstock.runtime.running.turn_leases import LONGEST_SECONDS
from sink_offsets import entry, in_group
from spark_cluster import WORKERS, SparkCluster, spark_cluster
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = [pytest.mark.heavy, pytest.mark.crowd]
PARTITIONS, EACH, LINES, LATER = 3, 8000, 100_000, 6000
WAITS = "Waiting for a Spark executor since 20"
SOON = 180
"""Within so many seconds of the death of an executor all turns have ended. It takes some ten."""


@pytest.fixture
def spark(tmp_path: Path, java: Java) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path, java) as cluster:
        yield cluster


@pytest.fixture
def worker(start: Callable[..., WorkerProcess], spark: SparkCluster) -> WorkerProcess:
    return on_cluster(start, spark)


def on_cluster(start: Callable[..., WorkerProcess], spark: SparkCluster) -> WorkerProcess:
    """A worker whose turns pass records on in small pieces, so that there is a middle."""
    return start(
        spark_master=spark.address,
        spark_driver_host="127.0.0.1",
        spark_executor_memory="512m",
        spark_executor_cores="2",
        spark_cores_max="4",
        spark_sql_execution_arrow_maxRecordsPerBatch="1000",
        turn_grace_ms="1000",
    )


def filled(topics: Topics, name: str) -> str:
    topics.create(name, PARTITIONS)
    topics.create(f"{name}-out", PARTITIONS)
    for partition in range(PARTITIONS):
        values = (b"%d" % (n * PARTITIONS + partition) for n in range(EACH))
        topics.produce(name, values, partition=partition)
    return name


def framed(name: str, **keys: str) -> dict[str, str]:
    own = {"connector.class": "Framed", "topics": name, "output": f"{name}-out", "tasks.max": "3"}
    return {**own, **keys}


def await_end(topics: Topics, name: str, mark: Path) -> None:
    eventually(mark.exists, within=180, what="an executor that is killed")
    ends = [entry(name, p, topics.end(name, p)) for p in range(PARTITIONS)]
    group = f"connect-{name}"
    eventually(lambda: in_group(topics, group) == ends, within=SOON, what="all offsets", every=0.5)


def assert_each_once(values: Counter[str]) -> None:
    assert len(values) == PARTITIONS * EACH
    assert set(values.values()) == {1}


def test_a_turn_into_kafka(
    worker: WorkerProcess, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Killed while records are read, before any is produced; then in open transactions."""
    for stage, batch in (("reading", 0), ("producing", 5)):
        made, mark = filled(topics, f"{name}-{stage}"), tmp_path / stage
        worker.client.create(made, framed(made, python=f"kill-executor-at {batch} {mark}"))
        await_end(topics, made, mark)
        assert_each_once(Counter(topics.values(f"{made}-out")))
        everything = topics.messages(f"{made}-out", committed=False)
        if stage == "producing":
            assert len(everything) > PARTITIONS * EACH, "nothing was produced in vain"
        worker.client.stop(made)


def test_a_turn_into_files_and_a_stage_that_is_retried(
    worker: WorkerProcess, spark: SparkCluster, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Killed while records are read, while files are written, and while what it had shuffled for
    others is read, so that Spark runs the stage before again.

    It need not if all of that stage had run on the other executor, so that is tried more often."""

    def killed(stage: str, batch: int, reshaping: str = "") -> None:
        made, mark = filled(topics, f"{name}-{stage}"), tmp_path / stage
        out = tmp_path / f"o{stage}"
        config = framed(made, python=f"kill-executor-at {batch} {mark}", reshaping=reshaping)
        worker.client.create(made, {**config, "folder": str(out)})
        await_end(topics, made, mark)
        files = out.glob("turn=*/*.parquet")
        assert_each_once(Counter(v for f in files for v in values_of(f)))
        worker.client.stop(made)
        eventually(lambda: len(spark.executors()) == WORKERS, within=60, what="both executors")

    killed("reading", 0)
    killed("writing", 5)
    log = tmp_path / "worker" / "data" / "spark.log"
    for attempt in range(4):
        killed(f"again-{attempt}", 1, "shuffle")
        if "FetchFailed" in log.read_text():
            return
    pytest.fail("no stage was retried")


def values_of(file: Path) -> list[str]:
    found = ParquetFile(file).read().column("value").to_pylist()
    return [value.decode() for value in found]


def test_the_rules_of_stopping_and_of_crashes_on_a_cluster(
    worker: WorkerProcess, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Rule 6: a stop does not wait for a turn that hangs in an executor. Rules 1 and 10: once that
    goes on, it commits nothing. Rule 8: a Python process that crashes fails nothing."""
    made, gate = filled(topics, f"{name}-stopped"), tmp_path / "gate"
    gate.touch()
    worker.client.create(made, framed(made, python=f"hang-while {gate}"))
    eventually(gate.with_suffix(".hung").exists, within=180, what="a turn that hangs")
    worker.client.stop(made)
    assert worker.client.status(made)["connector"]["state"] == "STOPPED"
    gate.unlink()
    worker.client.resume(made)
    await_end(topics, made, gate.with_suffix(".hung"))
    assert_each_once(Counter(topics.values(f"{made}-out")))

    made, mark = filled(topics, f"{name}-crashed"), tmp_path / "crashed"
    worker.client.create(made, framed(made, python=f"exit-once {mark}"))
    await_end(topics, made, mark)
    assert_each_once(Counter(topics.values(f"{made}-out")))
    assert worker.client.status(made)["connector"]["state"] == "RUNNING"


def test_a_turn_of_a_source_that_spark_reads(
    worker: WorkerProcess, spark: SparkCluster, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Killed while files are read and their lines are produced: at first, and in the middle."""
    folder = tmp_path / "in"
    folder.mkdir()
    for part in range(2):
        first = part * LINES
        lines = "".join(f"{n}\n" for n in range(first, first + LINES))
        (folder / f"{part}.txt").write_text(lines)
    topics.create(name)
    own = {"connector.class": "SparkSource", "format": "text", "topic": name, "tasks.max": "2"}
    worker.client.create(name, {**own, "path": str(folder), "list.interval.ms": "500"})
    for count in (1, LINES // 2):
        eventually(lambda: topics.end(name) > count, within=180, every=0.02)  # noqa: B023 (called at once)
        kill_one(spark)
    eventually(lambda: topics.end(name) >= 2 * LINES, within=SOON, what="all lines", every=0.5)
    (folder / "last.txt").write_text("last\n")
    eventually(lambda: "last" in topics.values(name)[-10:], within=SOON, what="the last line")
    found = Counter(topics.values(name))
    assert len(found) == 2 * LINES + 1
    assert set(found.values()) == {1}


def test_a_turn_of_a_sink_with_a_step_of_spark_sql(
    worker: WorkerProcess, spark: SparkCluster, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Killed while records are read, computed and put."""
    out = tmp_path / "out.txt"
    topics.create(name)
    topics.produce(name, (b"%d" % n for n in range(LINES)))
    step = {"transforms": "sql", "transforms.sql.type": "SparkSql"}
    step["transforms.sql.expression"] = "concat(value, '-', offset) AS value"
    own = {"connector.class": "FileStreamSink", "file": str(out), "topics": name}
    worker.client.create(name, {**own, **step})
    for count in (0, LINES // 4):
        eventually(
            lambda: out.exists() and len(lines_of(out)) > count,  # noqa: B023 (called at once)
            within=180,
            every=0.02,
        )
        kill_one(spark)
    ended = [entry(name, 0, topics.end(name))]
    group = f"connect-{name}"
    eventually(lambda: in_group(topics, group) == ended, within=SOON, what="the end", every=0.5)
    assert lines_of(out) == [f"{n}-{n}" for n in range(LINES)]


def test_a_turn_without_an_executor_waits_and_says_so(
    start: Callable[..., WorkerProcess], topics: Topics, name: str, tmp_path: Path, java: Java
) -> None:
    """Longer than a turn may hang. There is none at first; later the only one is killed, with the
    worker of Spark's that would start another."""
    with spark_cluster(tmp_path, java, workers=0) as spark:
        worker = on_cluster(start, spark)
        made = filled(topics, name)
        worker.client.create(made, framed(made))
        assert_waits(worker, made)
        spark.add(1)
        eventually(lambda: topics.end(f"{made}-out") > 0, within=SOON, what="a turn")
        spark.end(0)
        more = [b"%d" % n for n in range(PARTITIONS * EACH, PARTITIONS * EACH + LATER)]
        topics.produce(made, more)
        assert_waits(worker, made)
        spark.add(1)
        eventually(lambda: "trace" not in worker.client.status(made)["connector"], within=SOON)
        ends = [entry(made, p, topics.end(made, p)) for p in range(PARTITIONS)]
        eventually(lambda: in_group(topics, f"connect-{made}") == ends, within=SOON, what="the end")
        found = Counter(topics.values(f"{made}-out"))
        assert (len(found), set(found.values())) == (PARTITIONS * EACH + LATER, {1})
        assert "the task does not return" not in worker.log()


def assert_waits(worker: WorkerProcess, name: str) -> None:
    """For longer than a turn may take without a sign of life."""
    status = partial(worker.client.status, name)

    def remarks() -> bool:
        return WAITS in status()["connector"].get("trace", "")

    eventually(remarks, within=120, what="a remark")
    began = time.monotonic()
    eventually(lambda: time.monotonic() - began > LONGEST_SECONDS + 3, within=90)
    assert remarks()
    assert {task["state"] for task in status()["tasks"]} == {"RUNNING"}


def kill_one(spark: SparkCluster) -> None:
    """The executor whose Python processes have worked most."""
    executors = eventually(spark.executors, within=120, what="executors")
    max(executors, key=worked).kill()


def worked(executor: psutil.Process) -> float:
    try:
        below = executor.children(recursive=True)
        return sum(sum(each.cpu_times()[:2]) for each in below)
    except psutil.NoSuchProcess:
        return 0.0
