"""Lifecycle actions on one connector; the herder's lock on the connector is held throughout."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from penstock.kafka.errors import KafkaFault
from penstock.runtime.cluster import Cluster
from penstock.runtime.errors import InternalError, RequestError
from penstock.runtime.restarts import RestartPlan
from penstock.runtime.runner import Context, Runner, fence_tasks
from penstock.runtime.sink_runner import SinkRunner
from penstock.runtime.source_runner import SourceRunner
from penstock.runtime.states import State, Status, Target
from penstock.runtime.validation import Validator
from penstock.sdk.connectors import SinkConnector

log = logging.getLogger(__name__)


class Actions:
    """Starts, ends and replaces runners, and writes what that means to the stores."""

    def __init__(self, context: Context, cluster: Cluster) -> None:
        self._context = context
        self._cluster = cluster
        self._validator = Validator(context.plugins, context.worker.group_id)

    def reconcile(self, name: str) -> None:
        """Begin to run a connector if it should run and does not."""
        if self._context.configs.config(name) is None:
            return
        target = self._context.configs.target(name)
        if target is Target.STARTED:
            if self._cluster.runner(name) is None:
                self._begin(name)
        else:
            self._show_resting(name, target)

    def replace(self, name: str) -> None:
        """A new configuration: whatever runs is ended, what should run begins."""
        self._end(name)
        self.reconcile(name)

    def pause(self, name: str) -> None:
        """PAUSED, from RUNNING or STOPPED; a FAILED connector stays FAILED."""
        configs = self._context.configs
        if configs.target(name) is not Target.PAUSED:
            configs.put_target(name, Target.PAUSED)
        self._end(name)
        self._show_resting(name, Target.PAUSED)

    def resume(self, name: str) -> None:
        """RUNNING, from PAUSED or STOPPED; nothing to do if it runs. FAILED parts stay FAILED."""
        configs = self._context.configs
        if configs.target(name) is not Target.STARTED:
            configs.put_target(name, Target.STARTED)
        if self._cluster.runner(name) is None and self._state(name) is not State.FAILED:
            self._begin(name, failed=self._failed(name))

    def stop(self, name: str) -> None:
        """STOPPED: only after every task id is fenced are zero tasks and the target written."""
        configs = self._context.configs
        if configs.target(name) is Target.STOPPED:
            return
        self._end(name)
        self.fence(name)
        configs.stop(name)
        self._show_resting(name, Target.STOPPED)

    def delete(self, name: str) -> None:
        """Forget the connector; its offsets stay, and nothing of it can write any more."""
        self._end(name)
        self.fence(name)
        self._context.configs.delete(name)
        self._context.statuses.forget(name)

    def restart(self, name: str, plan: RestartPlan) -> None:
        """Begin afresh what the plan names; the target stays what it is."""
        target = self._context.configs.target(name)
        if plan.empty or target is Target.STOPPED:
            return
        self._show_restarting(name, plan)
        if target is Target.PAUSED:
            self._show_resting(name, target)
            return
        self._context.metrics.of(name).restarts += 1
        failed = {t: trace for t, trace in self._failed(name).items() if t not in plan.tasks}
        self._end(name)
        self._begin(name, failed=failed)

    def fence(self, name: str) -> None:
        """Make sure that nothing of the connector can commit any more."""
        count = self._context.configs.fenced_tasks(name)
        try:
            fence_tasks(self._context, name, count)
        except KafkaFault as error:
            raise InternalError(
                f"Could not make sure that the tasks of connector {name} have ended: {error}. "
                "Nothing was changed; try again."
            ) from error

    def _begin(self, name: str, failed: Mapping[int, str] | None = None) -> None:
        config = self._context.configs.config(name)
        if config is None:
            return
        try:
            plugin = self._context.plugins.connector(config.get("connector.class", ""))
        except RequestError as error:
            self._show(name, State.FAILED, str(error))
            return
        kind = SinkRunner if issubclass(plugin.cls, SinkConnector) else SourceRunner
        definition = self._validator.definition(plugin, config)
        runner: Runner = kind(self._context, name, config, plugin, definition, failed=failed)
        if self._context.statuses.connector(name) is None:
            self._show(name, State.UNASSIGNED)
        if self._cluster.put(name, runner):
            self._context.scheduler.wake(runner)

    def _end(self, name: str) -> None:
        runner = self._cluster.take(name)
        if runner is not None:
            runner.halt()

    # States.

    def _state(self, name: str) -> State | None:
        status = self._context.statuses.connector(name)
        return status.state if status else None

    def _failed(self, name: str) -> dict[int, str]:
        statuses = self._context.statuses
        found = {task: statuses.task(name, task) for task in statuses.task_ids(name)}
        return {t: s.trace or "" for t, s in found.items() if s and s.state is State.FAILED}

    def _status(self, state: State, trace: str | None = None) -> Status:
        context = self._context
        return Status(state, context.worker_id, context.generation(), trace)

    def _show(self, name: str, state: State, trace: str | None = None) -> None:
        log.info("the connector is %s%s", state, f": {trace}" if trace else "")
        self._context.statuses.put_connector(name, self._status(state, trace))

    def _show_resting(self, name: str, target: Target) -> None:
        statuses = self._context.statuses
        if target is Target.STOPPED:
            self._show(name, State.STOPPED)
            for task in statuses.task_ids(name):
                statuses.put_task(name, task, None)
            return
        if self._state(name) is not State.FAILED:
            self._show(name, State.PAUSED)
        failed = self._failed(name)
        for task in range(len(self._context.configs.tasks(name))):
            if task not in failed:
                statuses.put_task(name, task, self._status(State.PAUSED))

    def _show_restarting(self, name: str, plan: RestartPlan) -> None:
        if plan.connector:
            self._show(name, State.RESTARTING)
        for task in plan.tasks:
            self._context.statuses.put_task(name, task, self._status(State.RESTARTING))
