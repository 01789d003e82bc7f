"""Keeps the offsets of all sinks from expiring, including paused and stopped ones.

A broker deletes the offsets of a group without members after its retention time; committing them
again restarts that time.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.kafka.errors import KafkaFault
from penstock.logs.subject import about
from penstock.runtime.cluster.cluster import Cluster
from penstock.runtime.errors import RequestError
from penstock.runtime.running.context import Context
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.running.sink_writes import SinkWrites
from penstock.runtime.states import Target
from penstock.runtime.stores.sink_positions import known_positions
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)


class SinkKeeper:
    """A thread that commits unchanged sink offsets again, by default hourly."""

    def __init__(
        self, context: Context, cluster: Cluster, lock: Callable[[str], AbstractContextManager[Any]]
    ) -> None:
        self._lock = lock
        self._context = context
        self._cluster = cluster
        self._seconds = context.worker["sink.offsets.recommit.interval.ms"] / 1000
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sink-keeper", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.wait(self._seconds):
            for name in self._context.configs.names():
                self._keep(name)

    def _keep(self, name: str) -> None:
        """Under the connector's lock: a concurrent alter must not be undone."""
        with about(name):
            try:
                with self._lock(name):
                    if self._is_sink(name):
                        self._recommit(name)
            except (KafkaFault, RequestError, ConfigError) as error:
                log.warning("the offsets of the sink were not renewed: %s", error)
            except Exception:  # the thread must go on: offsets that are not renewed expire
                log.exception("the offsets of the sink were not renewed")

    def _recommit(self, name: str) -> None:
        runner = self._cluster.runners.runner(name)
        if isinstance(runner, SinkRunner):
            runner.recommit()
            return
        context = self._context
        if not self._cluster.leading or context.configs.target(name) is Target.STARTED:
            return  # another worker runs it, or is responsible for those that do not run
        sink = context.sink_groups.of(name)
        writes = SinkWrites(context, sink)
        writes.write(known_positions(context.admin, context.copies, sink).committed)

    def _is_sink(self, name: str) -> bool:
        config = self._context.configs.config(name) or {}
        plugin = self._context.plugins.connector(config.get("connector.class", ""))
        return issubclass(plugin.cls, SinkConnector)
