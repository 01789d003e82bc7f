"""Moves files into a new topic: with the connectors of a worker, or with the bare loop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.bed import Bed
from bench.child import Child
from bench.deliveries import Delivery, Expected, deliver
from bench.line_files import LineFile
from bench.rest_worker import RestWorker
from penstock.client.waiting import raise_if_failed

SOURCE = {"connector.class": "FileStreamSource", "tasks.max": "1"}

Config = Mapping[str, str]


@dataclass(frozen=True)
class Job:
    """Files to move, and the partitions of the topic they go to."""

    files: Sequence[LineFile]
    partitions: int = 1

    def expected(self) -> Expected:
        """What the topic must hold afterwards."""
        return Expected(
            sum(file.lines for file in self.files), sum(file.payload_bytes for file in self.files)
        )


def one_connector_per_file(job: Job, more: Config) -> list[Config]:
    """The configs of connectors that read one file each."""
    return [{**SOURCE, "file": str(file.path), **more} for file in job.files]


def by_worker(
    bed: Bed, worker: RestWorker, configs: Sequence[Config], job: Job, *, committed: bool
) -> Delivery:
    """Let connectors of a worker move the files, from the first answered request on."""
    topic = bed.topic(job.partitions)
    names = [bed.name("source") for _ in configs]

    def start() -> float:
        answers = [
            worker.create(name, {**config, "topic": topic.name})
            for name, config in zip(names, configs, strict=True)
        ]
        return answers[0]  # The first already moves records while the next is asked for.

    def check() -> None:
        for name in names:
            raise_if_failed(worker.client, name)

    try:
        return deliver(topic, job.expected(), start, check, committed=committed)
    finally:
        for name in names:
            worker.delete(name)
        topic.delete()


def by_bare_loop(bed: Bed, job: Job) -> Delivery:
    """Let a bare loop move the job's one file, from when it begins to make its producer."""
    topic = bed.topic(job.partitions)
    brokers = bed.connection.bootstrap_servers
    try:
        with Child("bench.bare_loop", brokers, topic.name, str(job.files[0].path)) as child:

            def start() -> float:
                child.tell("go")
                return time.perf_counter()

            return deliver(topic, job.expected(), start, child.check, committed=True)
    finally:
        topic.delete()
