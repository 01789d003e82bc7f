"""One round over one KafkaConnectorOffsets: alter a connector's offsets, once per generation.

``status.applying`` is written before the request. A round that finds it knows that an earlier one
was cut off, or lost the answer, and compares the offsets before it sends anything: a connector that
has moved on since must not be rewound again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from penstock.client import (
    ConnectApiError,
    ConnectClient,
    RawOffset,
    WorkerUnreachable,
    read_offsets,
    write_offsets,
)
from penstock.operator.calls import (
    CHANGING_SINCE,
    LISTING_SINCE,
    endpoint_call,
    explain,
    is_rebalance,
    or_none,
)
from penstock.operator.conditions import Condition, not_ready, ready, stamp, timed
from penstock.operator.errors import Unready
from penstock.operator.home import NORMAL, WARNING, Home, Options
from penstock.operator.shown_offsets import already_there, wanted_offsets
from penstock.operator.states import state_of

Json = dict[str, Any]
WAITING, APPLIED, FAILED = "Waiting", "Applied", "Failed"
# Refusals that end by themselves once the connector has stopped, or exists.
PASSING = ("STOPPED state", "tasks haven't stopped completely yet")
EDIT = "To try again, edit the resource or delete and recreate it."


class OffsetsRound:
    """Call `run` once with a client of the cluster that the label names, or `fail` without one."""

    _client: ConnectClient

    def __init__(self, resource: Json, home: Home, options: Options) -> None:
        self._home, self._options = home, options
        self._spec: Json = resource["spec"]
        self._generation = int(resource["metadata"].get("generation", 0))
        self._before: Json = resource.get("status") or {}
        self._connector = str(self._spec["connectorName"])

    def run(self, client: ConnectClient) -> bool:
        """Whether it is over, well or not; otherwise another round is due."""
        self._client = client
        if is_over(self._before, self._generation):
            return True
        try:
            wanted = wanted_offsets(self._spec)
            message = self._already_applied(wanted) or self._apply(wanted)
        except (ConnectApiError, WorkerUnreachable) as error:
            return self._refused(error)
        except Unready as error:
            return self._end(FAILED, not_ready(type(error).__name__, str(error)))
        self._home.tell(NORMAL, "OffsetsAltered", message)
        return self._end(APPLIED, ready())

    def fail(self, error: Exception) -> None:
        """Tell why there can be no round: no cluster, for example."""
        if not is_over(self._before, self._generation):
            self._write(WAITING, not_ready(type(error).__name__, explain(error)))

    def _already_applied(self, wanted: list[RawOffset]) -> str:
        """What to tell if an earlier round, cut off, has done it; empty if it has not."""
        if not self._was_cut_off():
            return ""
        found = endpoint_call(
            self._client,
            "alter offsets",
            LISTING_SINCE,
            lambda: self._client.offsets_text(self._connector),
        )
        if already_there(wanted, read_offsets(found)):
            return "The offsets were already as specified."
        status = or_none(lambda: self._client.status(self._connector)) or {}
        if state_of(status) != "STOPPED":
            raise Interrupted(
                "The operator was interrupted while altering the offsets, and the connector has "
                f"been started since: it is not known whether they were altered. {EDIT}"
            )
        return ""

    def _was_cut_off(self) -> bool:
        applying = self._before.get("applying") or {}
        return applying.get("generation") == self._generation

    def _apply(self, wanted: list[RawOffset]) -> str:
        applying = {"generation": self._generation, "since": stamp(self._options.now())}
        conditions = self._before.get("conditions") or ()
        self._home.write_status(
            {
                "observedGeneration": self._generation,
                "outcome": WAITING,
                "conditions": list(conditions),
                "triedSince": self._tried_since(),
                "applying": applying,
            }
        )
        body = write_offsets(wanted)
        return endpoint_call(
            self._client,
            "alter offsets",
            CHANGING_SINCE,
            lambda: self._client.alter_offsets_text(self._connector, body),
        )

    def _refused(self, error: ConnectApiError | WorkerUnreachable) -> bool:
        told = not_ready("OffsetsRefused", explain(error))
        if isinstance(error, WorkerUnreachable):
            # The answer may be lost, and not the request: the next round compares.
            self._write(WAITING, told, applying=True)
            return False
        if not _passes(error):
            return self._end(FAILED, told)
        if self._options.now() - self._first_try() > timedelta(minutes=self._options.alter_minutes):
            text = f"{error} Tried for {self._options.alter_minutes:g} minutes. {EDIT}"
            return self._end(FAILED, not_ready("OffsetsRefused", text))
        self._write(WAITING, told)
        return False

    def _first_try(self) -> datetime:
        return datetime.fromisoformat(self._tried_since())

    def _tried_since(self) -> str:
        if self._before.get("observedGeneration") == self._generation:
            return str(self._before.get("triedSince") or stamp(self._options.now()))
        return stamp(self._options.now())

    def _end(self, outcome: str, conditions: list[Condition]) -> bool:
        if outcome == FAILED:
            self._home.tell(WARNING, conditions[0]["reason"], conditions[0]["message"])
        self._write(outcome, conditions)
        return True

    def _write(self, outcome: str, conditions: list[Condition], *, applying: bool = False) -> None:
        now = self._options.now()
        status = {
            "observedGeneration": self._generation,
            "outcome": outcome,
            "conditions": timed(conditions, self._before.get("conditions") or (), now),
        }
        if outcome == WAITING:
            status["triedSince"] = self._tried_since()
        if applying:
            status["applying"] = {"generation": self._generation, "since": stamp(now)}
        self._home.write_status(status)


class Interrupted(Unready):
    """An earlier round was cut off, and what it did cannot be known."""


def is_over(status: Json, generation: int) -> bool:
    """Whether this generation was applied, or refused for good."""
    return status.get("observedGeneration") == generation and status.get("outcome") in (
        APPLIED,
        FAILED,
    )


def _passes(error: ConnectApiError) -> bool:
    if error.status == 404 or is_rebalance(error):
        return True
    return any(words in error.message for words in PASSING)
