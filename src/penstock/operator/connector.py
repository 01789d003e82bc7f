"""One round over one KafkaConnector: bring a worker to what it says, and tell how it went.

A round is made of requests that may all be repeated, in an order in which a round that was cut off
anywhere is completed by the next one. It needs no Kubernetes: see `Home`.
"""

from __future__ import annotations

from typing import Any

from penstock.client import ConnectApiError, ConnectClient, ConnectError, read_offsets
from penstock.operator import auto_restart
from penstock.operator.calls import (
    LISTING_SINCE,
    STOPPING_SINCE,
    endpoint_call,
    explain,
    or_none,
    patiently,
)
from penstock.operator.conditions import (
    Condition,
    condition,
    not_ready,
    ready,
    stamp,
    timed,
    warning,
)
from penstock.operator.config_map_offsets import manage
from penstock.operator.desired import (
    desired_config,
    digest,
    ignored_keys,
    same_config,
    unusable_keys,
)
from penstock.operator.errors import ConnectorProblem, InvalidResource, Unready
from penstock.operator.home import NORMAL, WARNING, Home, Options
from penstock.operator.names import CONNECTOR_OFFSETS, RESET
from penstock.operator.pause import is_paused, paused_status
from penstock.operator.reset import failure, reset
from penstock.operator.restarts import restart
from penstock.operator.shown_offsets import status_section
from penstock.operator.states import failed_parts, move, state_of, wanted_state

Json = dict[str, Any]
KEPT = ("connectorOffsets", "autoRestart", "appliedConfigHash")
SEE_STATUS = "see connectorStatus for more details."


class ConnectorRound:
    """Call `run` once with a client of the cluster that the label names, or `fail` without one."""

    _client: ConnectClient

    def __init__(self, resource: Json, home: Home, options: Options) -> None:
        self._resource, self._home, self._options = resource, home, options
        self._name: str = resource["metadata"]["name"]
        self._spec: Json = resource.get("spec") or {}
        self._annotations: dict[str, str] = resource["metadata"].get("annotations") or {}
        self._before: Json = resource.get("status") or {}
        self._status: Json = {k: self._before[k] for k in KEPT if k in self._before}
        self._more: list[Condition] = []
        self._done: list[str] = []
        self._updated = False
        self._kind = ""
        self._seen: Json = {}

    def run(self, client: ConnectClient) -> bool:
        """Whether all is where it should be, so that the next round can wait."""
        self._client = client
        if is_paused(self._resource):
            self._home.write_status(paused_status(self._resource, self._options.now()))
            return True
        verdict, settled = self._verdict()
        self._show_offsets()
        self._write(verdict)
        for key in self._done:
            self._home.drop_annotation(key)
        return settled

    def fail(self, error: Exception) -> None:
        """Tell why there can be no round: no cluster, for example."""
        verdict = not_ready(type(error).__name__, explain(error))
        self._fail_reset(explain(error))
        self._write(verdict)
        for key in self._done:
            self._home.drop_annotation(key)

    def _verdict(self) -> tuple[list[Condition], bool]:
        try:
            self._bring_about()
        except InvalidResource as error:
            self._fail_reset(str(error))
            return not_ready("InvalidResource", str(error)), True
        except ConnectorProblem as error:
            return not_ready("ConnectorProblem", str(error)), False
        except (ConnectError, Unready) as error:
            self._fail_reset(explain(error))
            return not_ready(type(error).__name__, explain(error)), False
        return ready(), True

    def _bring_about(self) -> None:
        self._check()
        self._bring_config()
        wanted = wanted_state(self._spec)
        self._bring_state(wanted)
        self._reset_offsets(wanted)
        self._manage_offsets()
        self._restart()
        self._observe(wanted)

    def _check(self) -> None:
        if wrong := unusable_keys(self._spec):
            raise InvalidResource(
                f"spec.config: {', '.join(wrong)}: values must be strings, numbers or "
                "booleans, not lists or objects. Correct the spec."
            )
        if ignored := ignored_keys(self._spec):
            self._more.append(
                warning(
                    "IgnoredConfig",
                    f"spec.config: {', '.join(ignored)}: ignored. Use the fields of the spec.",
                )
            )

    # Config and state

    def _bring_config(self) -> None:
        desired = desired_config(self._name, self._spec)
        info = or_none(lambda: self._client.info(self._name))
        if info is None:
            self._create(desired)
            self._home.tell(NORMAL, "Created", f"Connector {self._name} was created.")
        elif not same_config(desired, info["config"], self._before.get("appliedConfigHash", "")):
            self._update(desired)
        self._kind = str((info or {}).get("type", ""))
        self._status["appliedConfigHash"] = digest(desired)

    def _create(self, desired: dict[str, str]) -> None:
        wanted = wanted_state(self._spec)
        if wanted == "RUNNING":
            patiently(lambda: self._client.put_config(self._name, desired))
            return
        try:
            patiently(lambda: self._client.create(self._name, desired, initial_state=wanted))
        except ConnectApiError as error:
            # Kafka Connect before 3.7 does not know the field; its state then changes below.
            if "initial_state" not in error.message:
                raise
            patiently(lambda: self._client.put_config(self._name, desired))

    def _update(self, desired: dict[str, str]) -> None:
        patiently(lambda: self._client.put_config(self._name, desired))
        self._updated = True
        if self._before.get("appliedConfigHash") == digest(desired):
            self._home.tell(
                WARNING,
                "DriftCorrected",
                "The config was changed over REST; it was set back to the spec.",
            )
        else:
            self._home.tell(NORMAL, "Updated", "The config was updated from the spec.")

    def _bring_state(self, wanted: str) -> None:
        self._seen = or_none(lambda: self._client.status(self._name)) or {}
        state = state_of(self._seen)
        step = move(state, wanted)
        if step is not None:
            act = getattr(self._client, step)
            endpoint_call(self._client, step, STOPPING_SINCE, lambda: act(self._name))
            self._seen = {}
            self._home.tell(NORMAL, "StateChanged", f"State change requested: {state} to {wanted}.")
        elif state == "FAILED" and wanted == "PAUSED":
            text = f"Connector {self._name} cannot be paused since it is in failed state."
            self._more.append(warning("StateChange", text))

    # Annotations

    def _reset_offsets(self, wanted: str) -> None:
        if self._annotations.get(RESET) != "true":
            self._keep_failure()
        elif not self._both_ways():
            why = reset(self._client, self._name, wanted, self._options.stop_seconds)
            self._tell_reset(why)

    def _fail_reset(self, why: str) -> None:
        """The round ended early: the reset has failed; an earlier failure stays told."""
        if self._annotations.get(RESET) != "true":
            self._keep_failure()
        elif RESET not in self._done:
            self._tell_reset(f"The offsets were not reset: {why}")

    def _tell_reset(self, why: str) -> None:
        self._done.append(RESET)
        if why:
            self._more.append(failure(why))
            self._home.tell(WARNING, "OffsetsResetFailed", why)
        else:
            self._home.tell(NORMAL, "OffsetsReset", "All offsets of the connector were reset.")

    def _keep_failure(self) -> None:
        """A failed reset is shown until the next one, or until the resource is edited."""
        if any(told["type"] == RESET for told in self._more):
            return
        if self._before.get("observedGeneration") == self._resource["metadata"].get("generation"):
            self._more += [
                {k: v for k, v in old.items() if k != "lastTransitionTime"}
                for old in self._before.get("conditions", ())
                if old["type"] == RESET
            ]

    def _both_ways(self) -> bool:
        return self._options.strimzi_offsets and CONNECTOR_OFFSETS in self._annotations

    def _manage_offsets(self) -> None:
        action = self._annotations.get(CONNECTOR_OFFSETS)
        if action is None or self._updated:
            return
        told = self._managed(action)
        if told is None:
            self._done.append(CONNECTOR_OFFSETS)
            self._home.tell(NORMAL, "OffsetsManaged", f"{CONNECTOR_OFFSETS}={action} is done.")
        else:
            self._more.append(told)

    def _managed(self, action: str) -> Condition | None:
        if not self._options.strimzi_offsets:
            text = f"{CONNECTOR_OFFSETS} is disabled: start the operator with --strimzi-offsets."
            return warning("ManageOffsets", text)
        if self._annotations.get(RESET) == "true":
            text = f"Nothing was done: {CONNECTOR_OFFSETS} and {RESET} are both set. Remove one."
            return warning("ManageOffsets", text)
        return manage(action, self._client, self._resource, self._home)

    def _restart(self) -> None:
        done, warnings = restart(self._client, self._name, self._annotations)
        self._done += done
        self._more += warnings
        for key in done:
            self._home.tell(NORMAL, "Restarted", f"{key}={self._annotations[key]} is done.")

    # What the status says

    def _observe(self, wanted: str) -> None:
        # What was seen first still holds unless this round has changed something.
        if self._done or not self._seen:
            self._seen = or_none(lambda: self._client.status(self._name)) or {}
        status = self._seen
        self._kind = self._kind or str(status.get("type", ""))
        self._status["connectorStatus"] = status
        self._status["tasksMax"] = self._spec.get("tasksMax") or len(status.get("tasks", ()))
        self._status["topics"] = self._topics()
        self._auto_restart(status)
        _raise_if_failed(status)
        if state_of(status) != wanted:
            raise ConnectorProblem(f"The connector is {state_of(status)}; waiting for {wanted}.")

    def _topics(self) -> list[str]:
        try:
            return sorted(self._client.topics(self._name))
        except (ConnectApiError, KeyError):
            return []  # tracking topics may be switched off

    def _auto_restart(self, status: Json) -> None:
        record, now = self._status.get("autoRestart") or {}, self._options.now()
        if not any(failed_parts(status)):
            if auto_restart.is_forgotten(record, now):
                self._status.pop("autoRestart", None)
        elif auto_restart.is_due(self._spec, record, now):
            patiently(
                lambda: self._client.restart(self._name, include_tasks=True, only_failed=True)
            )
            count = int(record.get("count", 0)) + 1
            self._status["autoRestart"] = {
                "count": count,
                "connectorName": self._name,
                "lastRestartTimestamp": stamp(now),
            }
            self._home.tell(
                WARNING,
                "AutoRestarted",
                f"The failed connector or tasks were restarted (restart {count}).",
            )
        elif auto_restart.is_exhausted(self._spec, record):
            text = "autoRestart.maxRestarts is reached. Fix the cause, then restart the connector."
            self._more.append(warning("AutoRestart", text))

    def _show_offsets(self) -> None:
        if self._spec.get("showOffsets") is not True:
            return
        try:
            text = endpoint_call(
                self._client,
                "show offsets",
                LISTING_SINCE,
                lambda: self._client.offsets_text(self._name),
            )
            offsets = read_offsets(text)
        except (ConnectError, Unready) as error:
            self._more.append(
                warning("ShowOffsets", f"The offsets cannot be shown: {explain(error)}")
            )
            return
        shown = status_section(offsets, self._kind, self._options.now())
        self._status["connectorOffsets"] = shown
        count = len(shown["source"] if "source" in shown else shown["sink"])
        if count < len(offsets):
            text = (
                f"Only {count} of {len(offsets)} offsets fit into the status; "
                f"GET /connectors/{self._name}/offsets returns them all."
            )
            self._more.append(condition("OffsetsTruncated", "TooLarge", text))

    def _write(self, verdict: list[Condition]) -> None:
        before = self._before.get("conditions", ())
        conditions = timed([*verdict, *self._more], before, self._options.now())
        generation = self._resource["metadata"].get("generation", 0)
        self._tell_change(verdict[0])
        self._home.write_status(
            {**self._status, "observedGeneration": generation, "conditions": conditions}
        )

    def _tell_change(self, verdict: Condition) -> None:
        old: Json = next(
            (c for c in self._before.get("conditions", ()) if c["type"] == "Ready"), {}
        )
        if old.get("status") == verdict["status"] and old.get("message") == verdict.get("message"):
            return
        if verdict["status"] == "True":
            self._home.tell(NORMAL, "Ready", "The connector matches the spec.")
        else:
            self._home.tell(WARNING, verdict["reason"], verdict["message"])


def _raise_if_failed(status: Json) -> None:
    connector, tasks = failed_parts(status)
    if connector:
        raise ConnectorProblem(f"Connector has failed, {SEE_STATUS}")
    if tasks:
        numbers = ", ".join(map(str, tasks))
        raise ConnectorProblem(f"The following tasks have failed: {numbers}, {SEE_STATUS}")


def delete_connector(client: ConnectClient, name: str) -> None:
    """Delete a connector whose resource is gone; its offsets stay."""
    or_none(lambda: client.delete(name))
