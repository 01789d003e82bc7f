"""Everything a row may use: one broker, and a worker of each kind, each started when first used."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bench.connect_jars import ensure_connect_jars, ensure_mirror_jars
from bench.kafka_connect import start_kafka_connect
from bench.line_files import LineFile, line_file
from bench.penstock_worker import start_penstock
from bench.rest_worker import RestWorker
from bench.rounds import Say
from bench.scale import Scale
from bench.topic import Topic
from penstock.embedded import EmbeddedBroker, Jars, Java, ensure_jars, find_java
from penstock.kafka.clients import Connection

T = TypeVar("T")
PLUGINS = Path(__file__).with_name("plugins")


class Bed:
    """The parts of one run, below one folder. Everything ends with the with statement."""

    def __init__(self, folder: Path, scale: Scale, say: Say) -> None:
        self.folder, self.scale, self.say = folder, scale, say
        self._stack = ExitStack()
        self._numbers = itertools.count(1)
        # Commands that look for a running worker must not find one of the bench.
        os.environ["PENSTOCK_STATE_DIR"] = str(folder / "state")
        # Workers find the bench's own connectors here.
        named = [str(PLUGINS), os.environ.get("PYTHONPATH")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, named))

    def __enter__(self) -> Bed:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def name(self, kind: str) -> str:
        """A name that nothing else in this run has."""
        return f"bench-{kind}-{next(self._numbers)}"

    @cached_property
    def java(self) -> Java:
        """The Java of every part."""
        return find_java()

    @cached_property
    def jars(self) -> Jars:
        """The broker's and Spark's jars."""
        return ensure_jars(self.java, self.say)

    @cached_property
    def broker(self) -> EmbeddedBroker:
        """The broker, started by now."""
        self.say("starting the broker")
        return self._kept(EmbeddedBroker(self.folder / "broker", self.java, self.jars))

    @cached_property
    def connection(self) -> Connection:
        """How to reach the broker."""
        return Connection(self.broker.bootstrap_servers)

    @cached_property
    def penstock(self) -> RestWorker:
        """A Penstock worker, for every row that does not need one of its own."""
        return self._kept(self.new_penstock())

    @cached_property
    def kafka_connect(self) -> RestWorker:
        """A Kafka Connect worker, for every row that does not need one of its own."""
        return self._kept(self.new_kafka_connect())

    def new_penstock(self) -> RestWorker:
        """A Penstock worker of its own on this broker; whoever asked for it ends it."""
        self.say("starting penstock")
        name = self.name("penstock")
        return start_penstock(self.folder / name, name, self.connection.bootstrap_servers)

    def new_kafka_connect(self, properties: Mapping[str, str] | None = None) -> RestWorker:
        """A Kafka Connect worker of its own on this broker; whoever asked for it ends it."""
        # The broker's jars bring the logging that Kafka Connect's leave to whoever starts it.
        own = (ensure_connect_jars, ensure_mirror_jars)
        folders = [*(ensure(self.java, self.say) for ensure in own), self.jars.broker]
        class_path = ":".join(f"{folder}/*" for folder in folders)
        self.say("starting kafka connect")
        name = self.name("connect")
        brokers = self.connection.bootstrap_servers
        folder = self.folder / name
        return start_kafka_connect(
            folder, name, brokers, self.java, class_path, properties=properties
        )

    def topic(self, partitions: int = 1) -> Topic:
        """A new topic."""
        return Topic(self.connection, self.name("topic"), partitions)

    def lines(self, count: int, name: str | None = None) -> LineFile:
        """A file of this many lines, below the bench's folder, written once per run."""
        return line_file(self.folder / (name or f"lines-{count}.txt"), count)

    def _kept(self, part: AbstractContextManager[T]) -> T:
        return self._stack.enter_context(part)
