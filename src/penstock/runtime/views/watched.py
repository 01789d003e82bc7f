"""Everything known about a connector at one moment, for metrics and watchers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from penstock.kafka.topics import PartitionId
from penstock.runtime.errors import NotFound, RequestError
from penstock.runtime.meters.metrics import ConnectorMeter
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.context import Context
from penstock.runtime.running.runner import Runner
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.states import Status
from penstock.runtime.views.sink_lags import PartitionLag, SinkLags


@dataclass(frozen=True)
class Watched:
    """One connector."""

    name: str
    class_name: str
    plugin: Plugin | None
    """None when it is not installed."""
    status: Status
    tasks: dict[int, Status]
    meter: ConnectorMeter
    lags: list[PartitionLag] | None
    """The lag of a sink, once known."""
    owners: Mapping[PartitionId, int]
    """Which task of a sink has which partition, if known here."""

    def lags_of(self, task: int) -> list[PartitionLag] | None:
        """The partitions of one task; None if unknown."""
        if len(self.tasks) == 1 or self.lags is None:
            return self.lags
        if not self.owners:
            return None
        return [each for each in self.lags if self.owners.get((each.topic, each.partition)) == task]

    @property
    def type(self) -> str:
        """source, sink or unknown."""
        return self.plugin.type if self.plugin else "unknown"


class Watch:
    """Reads connectors from memory. Thread-safe."""

    def __init__(self, context: Context, runner: Callable[[str], Runner | None]) -> None:
        self._context = context
        self._runner = runner
        self._lags = SinkLags(context)

    def one(self, name: str) -> Watched:
        """A connector of any worker; NotFound if there is none, or none with a status yet."""
        if self._context.configs.config(name) is None:
            raise NotFound(f"Connector {name} not found")
        status = self._context.statuses.connector(name)
        if status is None:
            raise NotFound(f"No status found for connector {name}")
        self._lags.refresh()
        return self._read(name, status)

    def own(self) -> Iterator[Watched]:
        """The connectors that this worker is responsible for."""
        self._context.metrics.prune(self._context.configs.names)
        self._lags.refresh()
        for name in self._context.configs.names():
            status = self._context.statuses.connector(name)
            if status is not None and status.worker_id == self._context.worker_id:
                yield self._read(name, status)

    def _read(self, name: str, status: Status) -> Watched:
        context, statuses = self._context, self._context.statuses
        class_name = (context.configs.config(name) or {}).get("connector.class", "")
        found = {task: statuses.task(name, task) for task in statuses.task_ids(name)}
        return Watched(
            name=name,
            class_name=class_name,
            plugin=self._plugin(class_name),
            status=status,
            tasks={task: each for task, each in found.items() if each is not None},
            meter=context.metrics.of(name),
            lags=self._lags.of(name),
            owners=self._owners(name),
        )

    def _owners(self, name: str) -> Mapping[PartitionId, int]:
        runner = self._runner(name)
        return runner.owners if isinstance(runner, SinkRunner) else {}

    def _plugin(self, class_name: str) -> Plugin | None:
        try:
            return self._context.plugins.connector(class_name)
        except RequestError:
            return None
