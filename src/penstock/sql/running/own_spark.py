"""Spark for a prompt that has no worker in its process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {"spark.master": "local[2]", "spark.app.name": "penstock-sql"}


class OwnSpark:
    """Starts a session when it is first asked for; close it to end its JVM."""

    def __init__(self, announce: Callable[[str], object]) -> None:
        self._announce = announce
        self._stack = ExitStack()
        self._session: SparkSession | None = None

    def __call__(self) -> SparkSession:
        """The session; JavaNotFound without Java, ModuleNotFoundError without PySpark."""
        if self._session is None:
            self._session = self._started()
        return self._session

    def close(self) -> None:
        """End it, if it was started."""
        self._stack.close()

    def _started(self) -> SparkSession:
        from penstock.embedded import ensure_jars, find_java
        from penstock.engine.driver.session import LazySession, SparkSettings

        java = find_java()
        jars = ensure_jars(java).spark
        self._announce("Starting Spark for this query: some seconds ...\n")
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-sql-"))
        session = LazySession(SparkSettings(Path(folder), jars, java.home, SETTINGS))
        self._stack.callback(session.stop)
        return session.get()
