"""A connector that misbehaves in a callback, in every way and every callback.

The worker and its other connectors carry on, the status says what happened, and stop works.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.client import ConnectApiError
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy

RECORDS = 20
CALLED_OFF = 120.0
"""Seconds within which whatever does not return is given up, on a busy machine."""
SOURCE_TASK = ("task.start", "task.poll", "task.stop")
OPTIONAL = ("task.wake_on_news", "task.finish", "task.committed", "task.has_news")
"""What a source's task may have besides."""
SINK_TASK = ("task.start", "task.open", "task.put", "task.flush", "task.stop")
SOURCE_PARTS = ("converter.configure", "converter.encode", "transform.configure", "transform.apply")
SINK_PARTS = ("converter.configure", "converter.decode", "transform.configure", "transform.apply")
"""Of a converter, or a transform, that a source or a sink has."""
PARTS = {"converter": "value.converter.", "transform": "transforms.it."}
RETURNS = ("leaks", "forks")
RAISES = {"raises": "ValueError", "exits": "SystemExit", "interrupts": "KeyboardInterrupt"}
HANGS = ("blocks", "prints")
TARGETS = {"blocks": "BlockingTargetsSource", "prints": "PrintingTargetsSource"}
Part = Callable[[str], dict[str, Any]]
_numbers = itertools.count()


@dataclass
class Stage:
    """The worker, and how connectors that misbehave in one way are made on it."""

    worker: WorkerProcess
    topics: Topics
    folder: Path
    release: Path
    how: str

    def source(
        self,
        where: str,
        state: str | None = None,
        kind: str = "MisbehavingSource",
        *,
        blind: bool = False,
    ) -> str:
        """A source that misbehaves there, or has a part that does; it gets a lease although there
        is nothing left to read if it is ``blind``."""
        return self._create(kind, where, {"count": str(RECORDS), "blind": str(blind)}, state)

    def sink(self, where: str) -> str:
        """A sink that misbehaves there, or has a part that does, with something to write."""
        name = self._create("MisbehavingSink", where, {"out": str(self.folder)}, None)
        self.topics.produce(name, [b"%d" % number for number in range(RECORDS)])
        return name

    def _create(self, kind: str, where: str, keys: dict[str, str], state: str | None) -> str:
        name = f"{kind.lower()}-{where.replace('.', '-')}-{self.how}-{next(_numbers)}"
        place = {"topic" if kind.endswith("Source") else "topics": name}
        prefix = PARTS.get(where.partition(".")[0], "")
        misbehaviour = {
            f"{prefix}misbehave.in": where,
            f"{prefix}misbehave.how": self.how,
            f"{prefix}misbehave.until": str(self.release),
        }
        self.topics.create(name)
        config = {"connector.class": kind, **place, **keys, **_part(prefix), **misbehaviour}
        self.worker.client.create(name, config, state)
        return name

    def connector(self, name: str) -> dict[str, Any]:
        """The connector's part of the status."""
        return dict(self.worker.client.status(name)["connector"])

    def task(self, name: str) -> dict[str, Any]:
        """The task's part of the status; empty while there is none."""
        tasks = self.worker.client.status(name)["tasks"]
        return dict(tasks[0]) if tasks else {}

    def failed(self, part: Part, name: str, *words: str) -> None:
        """Wait until a connector or its task is FAILED; its trace must hold the words."""

        def trace() -> str:
            found = part(name)
            return str(found["trace"]) if found.get("state") == "FAILED" else ""

        told = eventually(trace, within=CALLED_OFF, every=0.5, what=f"{name} FAILED with {words}")
        assert [word for word in words if word not in told] == [], told

    def running(self, name: str) -> None:
        """Wait until a connector and its task are RUNNING."""
        eventually(lambda: self.task(name).get("state") == "RUNNING", what=f"{name} RUNNING")
        assert self.connector(name)["state"] == "RUNNING"

    def moved(self, name: str) -> None:
        """Wait until a connector has moved all records, and is as it should be."""
        eventually(
            lambda: len(self.topics.values(name)) == RECORDS, within=120, every=0.5, what=name
        )
        self.running(name)

    def stops(self, *names: str) -> None:
        """Stop them, see that they are, and delete them."""
        for name in names:
            self.worker.client.stop(name)
            eventually(self._stopped(name), what=f"{name} STOPPED")
            self.worker.client.delete(name)

    def _stopped(self, name: str) -> Callable[[], bool]:
        return lambda: bool(self.connector(name)["state"] == "STOPPED")

    def told(self, name: str, word: str) -> None:
        """Wait until the status of a connector has the word, whatever its state."""
        eventually(
            lambda: word in str(self.connector(name)), within=CALLED_OFF, every=0.5, what=word
        )

    def logged(self, name: str, word: str) -> None:
        """Wait until the worker's log has the word in a line about the connector."""

        def found() -> bool:
            lines = self.worker.log().splitlines()
            return any(f"[{name}|" in line and word in line for line in lines)

        eventually(found, within=CALLED_OFF, every=0.5, what=f"{word} in the log of {name}")

    def flushed(self, name: str) -> None:
        """Wait until a sink has taken all records, and is as it should be."""

        def committed() -> bool:
            offsets = self.worker.client.offsets(name)
            return bool(offsets) and offsets[0]["offset"]["kafka_offset"] >= RECORDS

        eventually(committed, what=f"{name} at its end", every=0.5)
        self.running(name)


def _part(prefix: str) -> dict[str, str]:
    if prefix == PARTS["converter"]:
        return {"value.converter": "MisbehavingConverter"}
    if prefix == PARTS["transform"]:
        return {"transforms": "it", f"{prefix}type": "MisbehavingTransform"}
    return {}


@pytest.fixture
def stage(
    victim: WorkerProcess, topics: Topics, tmp_path: Path, release: Path, how: str
) -> Iterator[Stage]:
    """The worker; a source that behaves must move its records after all that has happened."""
    stage = Stage(victim, topics, tmp_path, release, how)
    yield stage
    bystander = stage.source("")
    stage.moved(bystander)
    stage.stops(bystander)
    assert victim.healthy()


@pytest.mark.parametrize("how", RAISES)
def test_callbacks_of_the_connector_that_raise(stage: Stage, how: str) -> None:
    names = {where: stage.source(where) for where in ("start", "task_configs", "look", "plan")}
    for where in ("start", "task_configs"):
        stage.failed(stage.connector, names[where], RAISES[how])
    # The contract says of look and plan: it is logged, and they are asked again. So the state
    # stays, and what happens is told beside it.
    for where in ("look", "plan"):
        stage.told(names[where], RAISES[how])
    assert not any(stage.topics.values(names[where]) for where in ("look", "plan"))
    stage.stops(*names.values())


@pytest.mark.parametrize("how", RAISES)
def test_a_stop_that_raises(stage: Stage, how: str) -> None:
    name = stage.source("stop")
    stage.moved(name)
    stage.stops(name)


@pytest.mark.parametrize("how", [*RAISES, *HANGS])
def test_requests_whose_callback_raises_or_hangs(stage: Stage, how: str) -> None:
    altered = stage.source("alter_offsets", "STOPPED")
    entries = [{"partition": {"task": 0}, "offset": {"next": 3}}]
    for request in (
        lambda: stage.source("validate"),
        lambda: stage.worker.client.alter_offsets(altered, entries),
    ):
        with pytest.raises(ConnectApiError, match=RAISES.get(how, "callback does not return")):
            request()
    stage.release.touch()
    stage.worker.client.delete(altered)


@pytest.mark.parametrize("how", HANGS)
def test_callbacks_of_the_connector_that_do_not_return(stage: Stage, how: str) -> None:
    stopping = stage.source("stop")
    stage.moved(stopping)
    names = [stage.source(where) for where in ("start", "task_configs", "look", "plan")]
    bystander = stage.source("")
    stage.moved(bystander)
    stage.stops(bystander)
    for name in names:
        stage.failed(stage.connector, name, "callback does not return")
    stage.stops(*names, stopping)


@pytest.mark.parametrize("how", RETURNS)
def test_callbacks_of_the_connector_that_leave_something_behind(stage: Stage, how: str) -> None:
    callbacks = (
        *("validate", "exclusive_targets", "start", "task_configs"),
        *("look", "wake_on_news", "plan", "stop"),
    )
    names = [stage.source(where) for where in callbacks]
    for name in names:
        stage.moved(name)
    stage.stops(*names)


@pytest.mark.parametrize("how", RAISES)
def test_callbacks_of_a_task_that_raise(stage: Stage, how: str) -> None:
    names = [*map(stage.source, SOURCE_TASK), *map(stage.sink, SINK_TASK)]
    for name in names:
        stage.failed(stage.task, name, RAISES[how])
    assert all(stage.connector(name)["state"] == "RUNNING" for name in names)
    stage.stops(*names)


@pytest.mark.parametrize("how", HANGS)
def test_callbacks_of_a_task_that_do_not_return(stage: Stage, how: str) -> None:
    for create, callbacks in ((stage.source, SOURCE_TASK), (stage.sink, SINK_TASK)):
        names = [create(where) for where in callbacks]
        bystander = stage.source("")
        stage.moved(bystander)
        for name in names[:-1]:
            stage.failed(stage.task, name, "did not return", "misbehaving.py")
        # By the time that a task is told to stop, all it has moved is committed: there is nothing
        # left to do, so it is not tried again, and does not fail.
        stage.logged(names[-1], "expired")
        stage.stops(*names, bystander)


@pytest.mark.parametrize("how", RAISES)
def test_optional_callbacks_of_a_task_that_raise(stage: Stage, how: str) -> None:
    *names, asked = [stage.source(where) for where in OPTIONAL]
    for name in names:
        stage.failed(stage.task, name, RAISES[how])
    if how == "raises":  # the contract says that an error counts as news
        stage.moved(asked)
    else:
        stage.failed(stage.task, asked, RAISES[how])
    assert all(stage.connector(name)["state"] == "RUNNING" for name in (*names, asked))
    stage.stops(*names, asked)


@pytest.mark.parametrize("how", HANGS)
def test_optional_callbacks_of_a_task_that_do_not_return(stage: Stage, how: str) -> None:
    # What hangs twice is FAILED. These hang when everything is committed, and would not begin again
    # with a look.
    names = [stage.source(where, blind=where != "task.committed") for where in OPTIONAL]
    woken, finishing, told, asked = names
    bystander = stage.source("")
    stage.moved(bystander)
    for name in (woken, asked):
        stage.failed(stage.task, name, "did not return", "misbehaving.py")
    # It hangs at the lease's end, and may be given up before it has said where.
    stage.failed(stage.task, finishing, "did not return")
    # It is told of what is committed, so the next lease has less to be told of, and none at last.
    stage.logged(told, "expired")
    assert stage.topics.values(told)
    stage.stops(*names, bystander)


@pytest.mark.parametrize("how", [*RAISES, *HANGS])
def test_a_connector_that_is_to_tell_of_news_and_does_not(stage: Stage, how: str) -> None:
    name = stage.source("wake_on_news")
    eventually(lambda: len(stage.topics.values(name)) == RECORDS, within=120, every=0.5, what=name)
    if how in RAISES:
        stage.told(name, RAISES[how])
    else:
        stage.failed(stage.connector, name, "callback does not return")
    stage.stops(name)


@pytest.mark.parametrize("how", [*RAISES, *HANGS])
def test_targets_that_a_connector_does_not_name(stage: Stage, how: str) -> None:
    name = stage.source("exclusive_targets", kind=TARGETS.get(how, "MisbehavingSource"))
    stage.moved(name)
    assert TARGETS.get(how, RAISES.get(how, "")) in stage.worker.log()
    assert f"for its targets{' failed' if how in RAISES else ': callback'}" in stage.worker.log()
    stage.stops(name)


@pytest.mark.parametrize("how", HANGS)
def test_stop_while_a_callback_of_a_task_does_not_return(stage: Stage, how: str) -> None:
    names = [stage.source("task.poll"), stage.source("task.has_news"), stage.sink("task.put")]
    for name in names:
        stage.running(name)
    stage.stops(*names)


@pytest.mark.parametrize("how", RETURNS)
def test_callbacks_of_a_task_that_leave_something_behind(stage: Stage, how: str) -> None:
    sources = [stage.source(where) for where in (*SOURCE_TASK, *OPTIONAL)]
    sinks = [stage.sink(where) for where in SINK_TASK]
    for name in sources:
        stage.moved(name)
    for name in sinks:
        stage.flushed(name)
    stage.stops(*sources, *sinks)


@pytest.mark.parametrize("how", [*RAISES, *HANGS])
def test_converters_and_transforms_that_raise_or_hang(stage: Stage, how: str) -> None:
    names = [*map(stage.source, SOURCE_PARTS), *map(stage.sink, SINK_PARTS)]
    bystander = stage.source("")
    stage.moved(bystander)
    words = [RAISES[how]] if how in RAISES else ["did not return"]
    for name in names:
        stage.failed(stage.task, name, *words, "misbehaving.py")
    assert all(stage.connector(name)["state"] == "RUNNING" for name in names)
    stage.stops(*names, bystander)


@pytest.mark.parametrize("how", RETURNS)
def test_converters_and_transforms_that_leave_something_behind(stage: Stage, how: str) -> None:
    sources, sinks = list(map(stage.source, SOURCE_PARTS)), list(map(stage.sink, SINK_PARTS))
    for name in sources:
        stage.moved(name)
    for name in sinks:
        stage.flushed(name)
    stage.stops(*sources, *sinks)


@pytest.mark.parametrize("how", ["waits"])
def test_tasks_that_wait_for_longer_than_a_lease_lasts(stage: Stage, how: str) -> None:
    """They do not hang, and so do not fail; the status says what they wait for."""
    source = stage.source("task.poll")
    sinks = [stage.sink(where) for where in ("task.start", "task.put", "task.flush")]
    for name in sinks:
        eventually(partial(_interrupted, stage, name), within=CALLED_OFF, every=0.5, what=name)
    for name in (source, *sinks):
        eventually(
            lambda name=name: "waiting on request" in stage.task(name).get("trace", ""),  # type: ignore[misc]  # mypy: a lambda with a default
            within=CALLED_OFF,
            every=0.5,
            what=f"what {name} waits for",
        )
        assert stage.task(name)["state"] == "RUNNING"
    stage.release.touch()
    stage.moved(source)
    for name in sinks:
        stage.flushed(name)
    stage.stops(source, *sinks)


def _interrupted(stage: Stage, name: str) -> bool:
    """Whether several leases have ended over it: at the second, one that hangs fails its task."""
    assert stage.task(name).get("state") != "FAILED", stage.task(name)
    tasks = stage.worker.client.metrics(name)["tasks"]
    return bool(tasks) and tasks[0]["lost_leases"]["reasons"].get("interrupted", 0) >= 3
