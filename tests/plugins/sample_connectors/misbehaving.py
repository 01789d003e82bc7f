"""Connectors, a converter and a transform that misbehave in one callback, in one of many ways.

``misbehave.in`` names the callback: validate, exclusive_targets, start, task_configs, look,
wake_on_news, plan, stop or alter_offsets of the connector; task.start, task.poll, task.has_news,
task.wake_on_news, task.committed, task.finish, task.open, task.put, task.flush or task.stop;
converter.configure, converter.encode, converter.decode, transform.configure or transform.apply.
What is leaked or forked stays until the file ``misbehave.until`` exists, or for a few minutes.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.plain_converters import StringConverter
from penstock.runtime import callbacks
from penstock.sdk import (
    Assignments,
    ChangedOffset,
    ConfigDef,
    ConfigKey,
    OffsetReader,
    RetriableError,
    SinkTask,
    SourceRecord,
    SourceTask,
    Transform,
)
from penstock.sdk.converters import Decoded
from sample_connectors.collecting_sink import KEYS as SINK_KEYS
from sample_connectors.collecting_sink import CollectingSinkConnector, CollectingSinkTask
from sample_connectors.scripted_source import KEYS as SOURCE_KEYS
from sample_connectors.scripted_source import ScriptedSourceConnector, ScriptedSourceTask

IN, HOW, UNTIL = "misbehave.in", "misbehave.how", "misbehave.until"
WAY_NAMES = "blocks, raises, exits, interrupts, relapses, waits, leaks, forks or prints"
MISBEHAVIOUR = ConfigDef(
    ConfigKey(IN, default="", doc="The callback."),
    ConfigKey(HOW, default="", doc=f"One of {WAY_NAMES}."),
    ConfigKey(UNTIL, default="", doc="The file whose existence ends it."),
)
LONGEST_SECONDS = 240.0
LEAKED_BYTES, LEAKED_THREADS, LEAKED_FILES = 30_000_000, 10, 50
PATIENCE = "PENSTOCK_TEST_PATIENCE"
"""The environment variable that shortens the worker's patience with callbacks, in seconds."""
leaked: list[Any] = []

if PATIENCE in os.environ:
    callbacks.CALLBACK_SECONDS = float(os.environ[PATIENCE])


def misbehave(where: str, config: Mapping[str, str]) -> None:
    """Do so, if this is the place."""
    if config.get(IN) == where:
        WAYS[config[HOW]](config)


def over(config: Mapping[str, str], began: float) -> bool:
    """Whether it has gone on for long enough."""
    return Path(config[UNTIL]).exists() or time.monotonic() - began > LONGEST_SECONDS


def _block(config: Mapping[str, str]) -> None:
    began = time.monotonic()
    while not over(config, began):
        time.sleep(0.05)


def _raise(config: Mapping[str, str]) -> None:
    raise ValueError("misbehaving on request")


def _exit(config: Mapping[str, str]) -> None:
    sys.exit("misbehaving on request")


def _interrupt(config: Mapping[str, str]) -> None:
    raise KeyboardInterrupt("misbehaving on request")


def _first(config: Mapping[str, str]) -> bool:
    """Whether this connector does so for the first time in this process."""
    where = (config[IN], config[UNTIL])
    first = where not in leaked
    leaked.append(where)
    return first


def _relapse(config: Mapping[str, str]) -> None:
    """From the second time on."""
    if not _first(config):
        _raise(config)


def _wait(config: Mapping[str, str]) -> None:
    """As for a service that is down; it wants to be left alone for longer than a lease lasts."""
    if not Path(config[UNTIL]).exists():
        raise RetriableError("waiting on request", retry_after=LONGEST_SECONDS)


def _leak(config: Mapping[str, str]) -> None:
    """Once in a process: memory, files, and threads that are not even daemons."""
    if not _first(config):
        return
    leaked.append(bytearray(os.urandom(1) * LEAKED_BYTES))
    leaked.extend(Path(os.devnull).open() for _ in range(LEAKED_FILES))  # noqa: SIM115 (leaked)
    for _ in range(LEAKED_THREADS):
        threading.Thread(target=_block, args=(config,)).start()


def _fork(config: Mapping[str, str]) -> None:
    """Once in a process: a child that stays, with all that it has inherited."""
    if not _first(config):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads is the point
        child = os.fork()
    if child == 0:
        _block(config)
        os._exit(0)


def _print(config: Mapping[str, str]) -> None:
    """On and on, about 1 MB a second; so it does not return either."""
    began = time.monotonic()
    line = "misbehaving on request " * 40
    while not over(config, began):
        for _ in range(10):
            print(line)  # noqa: T201 (that it prints is the point)
        time.sleep(0.01)


WAYS: Mapping[str, Callable[[Mapping[str, str]], None]] = {
    "blocks": _block,
    "raises": _raise,
    "exits": _exit,
    "interrupts": _interrupt,
    "relapses": _relapse,
    "waits": _wait,
    "leaks": _leak,
    "forks": _fork,
    "prints": _print,
}


class MisbehavingSourceTask(ScriptedSourceTask):
    """Emits numbers, as its parent."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.all = dict(config)
        misbehave("task.start", config)
        super().start(config, offsets)

    def poll(self) -> list[SourceRecord] | None:
        misbehave("task.poll", self.all)
        return super().poll()

    def has_news(self) -> bool:
        misbehave("task.has_news", self.all)
        return True

    def wake_on_news(self, wake: Callable[[], None]) -> bool:
        misbehave("task.wake_on_news", self.all)
        return False

    def committed(self, offsets: Sequence[ChangedOffset]) -> None:
        misbehave("task.committed", self.all)

    def finish(self) -> Iterable[Sequence[SourceRecord]]:
        misbehave("task.finish", self.all)
        return ()

    def stop(self) -> None:
        misbehave("task.stop", self.all)


class MisbehavingSourceConnector(ScriptedSourceConnector):
    """As its parent, otherwise."""

    config_def = SOURCE_KEYS + MISBEHAVIOUR
    task_class: ClassVar[type[SourceTask]] = MisbehavingSourceTask

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        misbehave("validate", config)
        return ()

    def exclusive_targets(self, config: Mapping[str, str]) -> Mapping[str, str]:
        misbehave("exclusive_targets", config)
        return {}

    def start(self, config: Mapping[str, str]) -> None:
        misbehave("start", config)
        super().start(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        misbehave("task_configs", self.config)
        return super().task_configs(max_tasks)

    def look(self, offsets: OffsetReader) -> bool | None:
        misbehave("look", self.config)
        return super().look(offsets)

    def wake_on_news(self, wake: Callable[[], None]) -> None:
        misbehave("wake_on_news", self.config)

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        misbehave("plan", self.config)
        return None

    def stop(self) -> None:
        misbehave("stop", self.config)

    def alter_offsets(self, config: Mapping[str, str], offsets: Any) -> bool:
        misbehave("alter_offsets", config)
        return True


class BlockingTargetsSourceConnector(MisbehavingSourceConnector):
    """A class by itself: one that does not return when asked for its targets is asked only once."""


class PrintingTargetsSourceConnector(MisbehavingSourceConnector):
    """The same."""


class MisbehavingSinkTask(CollectingSinkTask):
    """Collects, as its parent."""

    def start(self, config: Mapping[str, str]) -> None:
        self.all = dict(config)
        misbehave("task.start", config)
        super().start(config)

    def open(self, assignments: Assignments) -> None:
        misbehave("task.open", self.all)
        super().open(assignments)

    def put(self, batch: pa.RecordBatch) -> None:
        misbehave("task.put", self.all)
        super().put(batch)

    def flush(self) -> str:
        misbehave("task.flush", self.all)
        return super().flush()

    def stop(self) -> None:
        misbehave("task.stop", self.all)


class MisbehavingSinkConnector(CollectingSinkConnector):
    """As its parent, otherwise."""

    config_def = SINK_KEYS + MISBEHAVIOUR
    task_class: ClassVar[type[SinkTask]] = MisbehavingSinkTask


class MisbehavingConverter(StringConverter):
    """As its parent, otherwise."""

    connect_class: ClassVar[str] = "sample_connectors.misbehaving.MisbehavingConverter"
    config_def: ClassVar[ConfigDef] = StringConverter.config_def + MISBEHAVIOUR

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        self.all = dict(config)
        misbehave("converter.configure", config)
        super().configure({}, is_key)

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        misbehave("converter.encode", self.all)
        return super().encode(array, field)

    def decode(self, data: pa.Array) -> list[Decoded]:
        misbehave("converter.decode", self.all)
        return super().decode(data)


class MisbehavingTransform(Transform):
    """Changes nothing."""

    connect_class: ClassVar[str] = "sample_connectors.misbehaving.MisbehavingTransform"
    config_def: ClassVar[ConfigDef] = MISBEHAVIOUR

    def configure(self, config: Mapping[str, str]) -> None:
        self.all = dict(config)
        misbehave("transform.configure", config)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        misbehave("transform.apply", self.all)
        return batch
