"""A real standalone Spark cluster on this machine, from the jars in PySpark's own package."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import psutil
import pyspark

from free_ports import free_port
from penstock.embedded import Java
from python_path import PLUGINS, with_path
from waiting import eventually

HOME = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"
HERE = ("--host", "127.0.0.1", "--webui-port", "0")
WORKERS, CORES = 2, 2


class SparkCluster:
    """A master and some workers, by default two with two cores each."""

    def __init__(self, folder: Path, java: Java, cores: int, stack: ExitStack) -> None:
        """Everything ends with ``stack``."""
        self._cores, self._stack = cores, stack
        self.address = f"spark://127.0.0.1:{free_port()}"
        self._folder, self._java = folder, java
        self._workers: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int) -> None:
        """Return once so many workers have registered."""
        port = self.address.rpartition(":")[2]
        self._begin("master", f"{DEPLOY}.master.Master", *HERE, "--port", port)
        log = self._folder / "master.log"
        eventually(lambda: "elected leader" in log.read_text(), what="a Spark master")
        self.add(workers)

    def add(self, workers: int) -> None:
        """Return once so many more have registered."""
        new = range(len(self._workers), len(self._workers) + workers)
        for number in new:
            room = ["-c", str(self._cores), "-m", "1g", "-d", str(self._folder / f"work-{number}")]
            main = f"{DEPLOY}.worker.Worker"
            worker = self._begin(f"spark-{number}", main, *HERE, *room, self.address)
            self._workers.append(worker)
        for number in new:
            eventually(partial(self._registered, number), what=f"Spark worker {number}")

    def _registered(self, number: int) -> bool:
        """As the worker itself says: the master may register one more than once."""
        log = self._folder / f"spark-{number}.log"
        return "Successfully registered with master" in log.read_text()

    def executors(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        children = [psutil.Process(worker.pid).children() for worker in self._workers]
        return [child for found in children for child in found if child.is_running()]

    def _begin(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        class_path = str(HOME / "jars" / "*")
        environment = {
            "SPARK_HOME": str(HOME),
            "SPARK_SCALA_VERSION": "2.13",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JAVA_HOME": str(self._java.home),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": with_path(PLUGINS),
        }
        with (self._folder / f"{name}.log").open("wb") as output:
            process = subprocess.Popen(
                [str(self._java.path), "-Xmx256m", "-cp", class_path, main, *arguments],
                stdout=output,
                stderr=output,
                env={**os.environ, **environment},
            )
        self._stack.callback(_end, process)
        return process


@contextmanager
def spark_cluster(
    folder: Path, java: Java, *, workers: int = WORKERS, cores: int = CORES
) -> Iterator[SparkCluster]:
    """A cluster for the length of a ``with`` block."""
    with ExitStack() as stack:
        cluster = SparkCluster(folder, java, cores, stack)
        cluster.start(workers)
        yield cluster


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(20)
