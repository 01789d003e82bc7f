"""Real Kafka Connect, then Penstock, and both of them again, on one cluster's topics.

Each worker finds what the one before has left, moves what has been added meanwhile, and is asked
for changes: stops, pauses, deletions, altered and reset offsets. What can be seen from outside at
the end of each chapter is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from bench.kafka_connect import start_kafka_connect, worker_command, worker_properties
from bench.rest_worker import RestWorker
from free_ports import free_port
from penstock.client import ConnectApiError, ConnectClient
from penstock.embedded import Java
from penstock.embedded.process import WatchedProcess
from raw_records import write_records
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

GROUP = "takeover"
STORAGE = {kind: f"{GROUP}-{kind}" for kind in ("config", "offset", "status")}
CLUSTER = {"group.id": GROUP, **{f"{k}.storage.topic": topic for k, topic in STORAGE.items()}}
COMMITTED = dict.fromkeys(("isolation.level", "consumer.isolation.level"), "read_committed")
"""What Kafka Connect needs after us: it would else believe what was rolled back."""
PARTITIONS = 7
CONNECT = {
    **CLUSTER,
    **COMMITTED,
    "offset.storage.partitions": str(PARTITIONS),
    "offset.flush.interval.ms": "1000",
}
SOURCES = ("moves", "rests", "stands", "cleared", "doomed", "gone")
LINE_BYTES = len("line 00\n")
ORIGINAL, LATER = "takeover-original", "takeover-later"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
CONFLICT = 409


class Kept(NamedTuple):
    """The last record of a key, and the partitions on which the key was ever seen."""

    value: bytes | None
    partitions: frozenset[int]


@dataclass
class Chapter:
    """What could be seen before the worker of this chapter ended."""

    found: dict[str, list[str]] = field(default_factory=dict)
    """The states in which it took connectors over: the connector's own, then its tasks'."""
    offsets: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    storage: dict[str, dict[bytes, Kept]] = field(default_factory=dict)


@dataclass
class Story:
    """The chapters, what came of the records, and what intruders were told."""

    folder: Path
    theirs: Chapter = field(default_factory=Chapter)
    ours: Chapter = field(default_factory=Chapter)
    theirs_again: Chapter = field(default_factory=Chapter)
    refused_ours: str = ""
    refused_theirs: str = ""
    values: dict[str, list[str]] = field(default_factory=dict)
    collected: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    """What a sink has written that Kafka Connect reset, after and before it was ours."""

    def file(self, source: str) -> Path:
        """What a source reads."""
        return self.folder / f"{source}.txt"

    def at(self, source: str, lines: int) -> list[dict[str, Any]]:
        """The offset of a file source behind so many lines."""
        partition = {"filename": str(self.file(source))}
        return [{"partition": partition, "offset": {"position": lines * LINE_BYTES}}]

    def add_lines(self, source: str, first: int, end: int) -> None:
        """Append numbered lines to what a source reads."""
        with self.file(source).open("a") as out:
            out.writelines(f"{text}\n" for text in lines(first, end))


def lines(first: int, end: int) -> list[str]:
    """Numbered lines."""
    return [f"line {number:02d}" for number in range(first, end)]


def topic_of(source: str) -> str:
    """Where a source writes."""
    return f"takeover-{source}"


class Teller:
    """Plays the chapters, one worker at a time."""

    def __init__(self, story: Story, servers: str, topics: Topics, java: Java, jars: str) -> None:
        self.story, self.servers, self.topics = story, servers, topics
        self._java, self._jars = java, jars
        self.ours = WorkerProcess(
            story.folder / "ours", port=free_port(), bootstrap_servers=servers, properties=CLUSTER
        )

    def start_theirs(self, chapter: str) -> RestWorker:
        """A worker of Kafka Connect in the cluster of the story."""
        folder = self.story.folder / chapter
        return start_kafka_connect(
            folder, GROUP, self.servers, self._java, self._jars, properties=CONNECT
        )

    def refuse_theirs(self) -> str:
        """What a worker of Kafka Connect says that the broker does not let in."""
        folder = self.story.folder / "refused"
        settings = {**worker_properties(GROUP, self.servers, free_port()), **CONNECT}
        command = worker_command(folder, self._java, self._jars, settings)
        log = folder / "connect.log"
        intruder = WatchedProcess(command, log)
        try:
            # Its end would take another minute.
            eventually(
                lambda: "exiting" in log.read_text(), within=120, what="an insight", every=0.2
            )
            return log.read_text()
        finally:
            intruder.kill()

    def arrive(self, source: str, count: int) -> None:
        """Wait for records of a source; more than asked for is wrong."""
        topic = topic_of(source)
        eventually(lambda: self.topics.end(topic) >= count, what=f"records of {source}", every=0.2)
        eventually(lambda: len(self.topics.values(topic)) >= count, what=source, every=0.2)

    def collect(self, count: int, sink: str = "collected") -> None:
        """Wait for what a sink writes."""
        eventually(lambda: len(self.collected(sink)) >= count, what=f"{sink} lines", every=0.2)

    def collected(self, sink: str = "collected") -> list[str]:
        """What a sink has written."""
        file = self.story.file(sink)
        return file.read_text().splitlines() if file.exists() else []

    def add_originals(self, topic: str, first: int, end: int) -> None:
        """Add to what the mirror copies."""
        write_records(self.topics, topic, [(b"k", text.encode()) for text in lines(first, end)])

    def see(self, chapter: Chapter) -> None:
        """Keep what is stored; Kafka Connect writes some of it only when it ends."""
        for kind, topic in STORAGE.items():
            chapter.storage[kind] = self._kept(topic)

    def _kept(self, topic: str) -> dict[bytes, Kept]:
        kept: dict[bytes, Kept] = {}
        for message in self.topics.messages(topic):
            key = message.key() or b""
            before = kept[key].partitions if key in kept else frozenset()
            kept[key] = Kept(message.value(), before | {message.partition() or 0})
        return kept


def states(client: ConnectClient) -> dict[str, list[str]]:
    """Every connector's state, followed by those of its tasks."""
    found = {name: entry["status"] for name, entry in client.expanded("status").items()}
    return {
        name: [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
        for name, status in found.items()
    }


def reach(client: ConnectClient, wanted: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Wait until these connectors are in these states; the states of all."""

    def reached() -> dict[str, list[str]] | None:
        found = states(client)
        return found if wanted.items() <= found.items() else None

    return eventually(reached, what=f"{wanted}, not {states(client)}", every=0.2) or {}


def settled(request: Callable[[], object]) -> None:
    """Make a request again for as long as the worker says that it is busy with its group."""

    def accepted() -> bool:
        try:
            request()
        except ConnectApiError as error:
            if error.status != CONFLICT:
                raise
            return False
        return True

    eventually(accepted, what="a request that is taken", every=0.2)


def file_source(story: Story, source: str) -> dict[str, str]:
    """The configuration of a file source, with Kafka Connect's class."""
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(story.file(source)),
        "topic": topic_of(source),
        "tasks.max": "1",
    }


def file_sink(story: Story, sink: str = "collected") -> dict[str, str]:
    """The configuration of a sink that collects what ``moves`` moves."""
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "file": str(story.file(sink)),
        "topics": topic_of("moves"),
        "tasks.max": "1",
    }


def mirror(servers: str) -> dict[str, str]:
    """The configuration of MirrorMaker 2, from the broker to itself."""
    clusters = {f"{end}.cluster.bootstrap.servers": servers for end in ("source", "target")}
    return {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "origin",
        "target.cluster.alias": "copy",
        **clusters,
        "topics": f"{ORIGINAL},{LATER}",
        "tasks.max": "1",
        "key.converter": BYTES,
        "value.converter": BYTES,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.enabled": "false",
        "sync.topic.configs.enabled": "false",
    }


RUNNING, PAUSED, STOPPED = ["RUNNING"] * 2, ["PAUSED"] * 2, ["STOPPED"]


def play(folder: Path, servers: str, topics: Topics, java: Java, class_path: str) -> Story:
    """All chapters."""
    story = Story(folder)
    teller = Teller(story, servers, topics, java, class_path)
    with teller.start_theirs("theirs") as worker:
        _first_chapter(teller, worker.client)
    teller.see(story.theirs)
    _go_on(teller, 5)
    topics.create(LATER)
    teller.add_originals(LATER, 0, 5)
    try:
        teller.ours.start()
        _second_chapter(teller, teller.ours.client)
        teller.ours.stop()
    finally:
        teller.ours.close()
    teller.see(story.ours)
    _go_on(teller, 10)
    _roll_back(teller)
    with teller.start_theirs("theirs-again") as worker:
        _third_chapter(teller, worker.client)
    teller.see(story.theirs_again)
    _look_at_the_outcome(teller)
    try:
        teller.ours.start()
        _last_chapter(teller, teller.ours.client)
    finally:
        teller.ours.close()
    return story


def _go_on(teller: Teller, first: int) -> None:
    """What is added while no worker runs."""
    teller.story.add_lines("moves", first, first + 5)
    teller.add_originals(ORIGINAL, first, first + 5)


def _roll_back(teller: Teller) -> None:
    """What a task of ours leaves that dies just before its commit: a record, and its offset."""
    kept = teller.story.ours.storage["offset"]
    key = next(key for key in kept if key.startswith(b'["moves",'))
    producer = teller.topics.transaction("takeover-moves-0")
    producer.produce(topic_of("moves"), b"never")
    producer.produce(STORAGE["offset"], b'{"position":8}', key, partition=min(kept[key].partitions))
    assert producer.flush(20) == 0
    producer.abort_transaction(20)


def _first_chapter(teller: Teller, client: ConnectClient) -> None:
    story = teller.story
    teller.topics.create(ORIGINAL)
    teller.add_originals(ORIGINAL, 0, 5)
    for source in SOURCES:
        story.add_lines(source, 0, 5)
        settled(partial(client.create, source, file_source(story, source)))
    settled(lambda: client.create("collects", file_sink(story)))
    settled(lambda: client.create("mirrors", mirror(teller.servers)))
    for source in SOURCES:
        teller.arrive(source, 5)
    teller.collect(5)
    eventually(lambda: len(teller.topics.values(f"origin.{ORIGINAL}")) >= 5, what="copies")

    settled(lambda: client.pause("rests"))
    settled(lambda: client.stop("stands"))
    settled(lambda: client.stop("cleared"))
    reach(client, {"rests": PAUSED, "stands": STOPPED, "cleared": STOPPED})
    story.add_lines("rests", 5, 10)
    settled(lambda: client.alter_offsets("stands", story.at("stands", 2)))
    settled(lambda: client.reset_offsets("cleared"))
    settled(lambda: client.delete("gone"))
    story.refused_ours = _refused_ours(teller)


def _second_chapter(teller: Teller, client: ConnectClient) -> None:
    story = teller.story
    story.ours.found = reach(
        client,
        {
            **dict.fromkeys(("moves", "collects", "mirrors", "doomed"), RUNNING),
            **dict.fromkeys(("stands", "cleared"), STOPPED),
            "rests": PAUSED,
        },
    )
    assert client.offsets("stands") == story.at("stands", 2)
    assert client.offsets("cleared") == []
    teller.arrive("moves", 10)
    teller.collect(10)
    eventually(lambda: len(teller.topics.values(f"origin.{ORIGINAL}")) >= 10, what="copies")
    eventually(lambda: len(teller.topics.values(f"origin.{LATER}")) >= 5, what="later copies")

    client.resume("stands")
    teller.arrive("stands", 8)
    client.stop("stands")
    client.alter_offsets("stands", story.at("stands", 4))
    client.resume("cleared")
    teller.arrive("cleared", 10)
    client.stop("cleared")
    client.reset_offsets("cleared")
    client.resume("rests")
    teller.arrive("rests", 10)
    client.pause("rests")
    story.add_lines("rests", 10, 15)
    client.delete("doomed")
    story.add_lines("fresh", 0, 5)
    client.create("fresh", file_source(story, "fresh"), "STOPPED")
    client.alter_offsets("fresh", story.at("fresh", 1))
    client.create("repeats", file_sink(story, "repeated"))
    teller.collect(10, "repeated")
    story.refused_theirs = teller.refuse_theirs()
    story.ours.offsets = {name: client.offsets(name) for name in client.connectors()}


def _third_chapter(teller: Teller, client: ConnectClient) -> None:
    story = teller.story
    story.theirs_again.found = reach(
        client,
        {
            **dict.fromkeys(("moves", "collects", "repeats", "mirrors"), RUNNING),
            **dict.fromkeys(("stands", "cleared", "fresh"), STOPPED),
            "rests": PAUSED,
        },
    )
    teller.arrive("moves", 15)
    teller.collect(15)
    eventually(lambda: len(teller.topics.values(f"origin.{ORIGINAL}")) >= 15, what="copies")
    assert client.offsets("cleared") == []
    for name, count in {"stands": 9, "cleared": 15, "rests": 15, "fresh": 4}.items():
        settled(partial(client.resume, name))
        teller.arrive(name, count)
    for name, count in {"moves": 15, "fresh": 5}.items():
        wanted = story.at(name, count)
        eventually(partial(_lists, client, name, wanted), what=f"offsets of {name}", every=0.2)
    story.theirs_again.offsets = {name: client.offsets(name) for name in client.connectors()}
    teller.collect(15, "repeated")
    settled(lambda: client.stop("repeats"))
    reach(client, {"repeats": STOPPED})
    settled(lambda: client.reset_offsets("repeats"))


def _last_chapter(teller: Teller, client: ConnectClient) -> None:
    assert client.offsets("repeats") == []
    client.resume("repeats")
    teller.collect(30, "repeated")
    teller.story.repeated = teller.collected("repeated")


def _lists(client: ConnectClient, name: str, wanted: list[dict[str, Any]]) -> bool:
    return client.offsets(name) == wanted


def _look_at_the_outcome(teller: Teller) -> None:
    story = teller.story
    for source in (*SOURCES, "fresh"):
        story.values[source] = teller.topics.values(topic_of(source))
    for topic in (ORIGINAL, LATER):
        story.values[topic] = teller.topics.values(f"origin.{topic}")
    story.collected = teller.collected()


def _refused_ours(teller: Teller) -> str:
    """What our worker says when the other kind is alive; it must end by itself."""
    intruder = teller.ours
    try:
        intruder.start()
    except AssertionError:
        assert intruder.process is not None
        assert intruder.process.wait(30) == 1
        return intruder.output()
    finally:
        intruder.close()
    return ""
