"""A round: faults under load, then everything as it should be within a minute, or less."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from confluent_kafka import KafkaException

from chaos.checker import LOST
from chaos.cluster import NoAnswer
from chaos.contents import Contents
from chaos.faults import NothingThere, strike
from chaos.ground import Ground
from chaos.load import NAMES
from chaos.plan import Fault
from penstock.client import ConnectClient, ConnectError

RECOVERY_SECONDS = 60.0
CARRIERS_ALONE, CARRIER_SECONDS = frozenset({"python-kill"}), 20.0
"""Where only carriers died, no session has to run out, and their leases go on at once."""
PAUSE_SECONDS = 0.5
RUNNING, FAILED = "RUNNING", "FAILED"


@dataclass
class Outcome:
    """What a round was like; without violations it has passed."""

    name: str
    faults: list[Fault]
    fault_seconds: float = 0.0
    recovery_seconds: float = 0.0
    violations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Round:
    """One round on a ground."""

    def __init__(
        self, ground: Ground, contents: Contents, number: int, faults: list[Fault]
    ) -> None:
        self._ground, self._contents = ground, contents
        self._outcome = Outcome(f"round {number}", faults)

    def run(self) -> Outcome:
        """Strike, heal, wait, check."""
        began = time.monotonic()
        self._strike()
        self._outcome.fault_seconds = time.monotonic() - began
        within = recovery_seconds(self._outcome.faults)
        recover(self._ground, self._contents, self._outcome, within=within)
        return self._outcome

    def _strike(self) -> None:
        faults = self._outcome.faults
        with ThreadPoolExecutor(len(faults)) as pool:
            wrong = list(pool.map(self._guarded, faults))
        self._outcome.violations += [each for each in wrong if each]

    def _guarded(self, fault: Fault) -> str:
        try:
            return strike(self._ground, fault)
        except NoAnswer as error:
            return f"REST: {error}"
        except NothingThere:
            self._outcome.notes.append(f"{fault}: there was no such process")
            return ""


def recovery_seconds(faults: Sequence[Fault]) -> float:
    """How long a round with these faults may take until everything is as it should be."""
    kinds = {fault.kind for fault in faults}
    return CARRIER_SECONDS if kinds <= CARRIERS_ALONE else RECOVERY_SECONDS


def recover(
    ground: Ground,
    contents: Contents,
    outcome: Outcome,
    *,
    within: float = RECOVERY_SECONDS,
    newest: int | None = None,
    anew: bool = False,
) -> None:
    """Wait until all runs and ``newest`` lines of each source have come out; tell what did not.

    Without a number these are all up to one that is not even written yet.
    """
    began = time.monotonic()
    newest = ground.load.written + 1 if newest is None else newest
    missing = "not looked yet"
    while missing and time.monotonic() - began < within:
        time.sleep(PAUSE_SECONDS)
        _note_ends(ground, outcome)
        missing = _unsound(ground) or _unwritten(ground, contents, newest, outcome, anew)
    outcome.recovery_seconds = time.monotonic() - began
    if missing:
        told = f"not recovered in {within:.0f} s: {missing}"
        outcome.violations.append(told)
        revive(ground)


def revive(ground: Ground) -> None:
    """Restart what has FAILED, so that the next round begins with everything running."""
    with contextlib.suppress(NoAnswer):
        found = ground.cluster.ask("states", lambda client: client.expanded("status"))
        for name in [each for each in NAMES if FAILED in str(found.get(each))]:
            ground.cluster.ask(f"to restart {name}", partial(_restart_failed, name))


def _restart_failed(name: str, client: ConnectClient) -> bool:
    return client.restart(name, include_tasks=True, only_failed=True) is not None


def _note_ends(ground: Ground, outcome: Outcome) -> None:
    for worker in ground.workers:
        if (code := worker.own_end()) is not None:
            outcome.violations.append(worker.ended_text(code))
            worker.start()


def _unsound(ground: Ground) -> str:
    """The first worker, connector or task that is not as it should be."""
    for worker in ground.workers:
        try:
            if not worker.healthy():
                return f"{worker.name} is not healthy"
            found = worker.client.expanded("status")
        except ConnectError as error:
            return f"{worker.name} does not answer: {error}"
        for name in NAMES:
            if wrong := _not_running(name, found.get(name, {}).get("status")):
                return f"{worker.name} says: {wrong}"
    return ""


def _not_running(name: str, status: dict[str, object] | None) -> str:
    if status is None:
        return f"{name} is unknown"
    connector, tasks = status["connector"], status["tasks"]
    assert isinstance(connector, dict)  # noqa: S101 - for mypy
    assert isinstance(tasks, list)  # noqa: S101 - for mypy
    for part in (connector, *tasks):
        if part["state"] != RUNNING:
            label = f"task {part['id']} of {name}" if "id" in part else name
            return f"{label} is {part['state']} {part.get('trace', '')}".strip()
    return "" if tasks else f"{name} has no task"


def _unwritten(
    ground: Ground, contents: Contents, newest: int, outcome: Outcome, anew: bool
) -> str:
    """What has not come out yet; whatever else the checker finds is a violation at once."""
    if ground.load.written < newest:
        return "no new line was written"
    try:
        findings = contents.check(newest, anew=anew)
    except KafkaException as error:
        return f"the broker does not answer: {error}"
    wrong = [str(each) for each in findings if each.kind != LOST]
    outcome.violations += [each for each in wrong if each not in outcome.violations]
    return "; ".join(str(each) for each in findings if each.kind == LOST)
