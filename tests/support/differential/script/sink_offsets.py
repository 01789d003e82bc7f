"""Offsets of a sink."""

from __future__ import annotations

from typing import Any

from differential.steps import (
    Ask,
    Lines,
    Step,
    Topic,
    Until,
    delete,
    get,
    gone,
    patch,
    post,
    put,
    states,
)

SOURCE, NAME = "{s}-feed", "{s}-drain"
PATH = f"/connectors/{NAME}"
OFFSETS = f"{PATH}/offsets"
FEED = "{dir}/{s}-feed.txt"
SOURCE_CONFIG = {"connector.class": "FileStreamSource", "file": FEED, "topic": SOURCE}
CONFIG = {
    "connector.class": "FileStreamSink",
    "file": "{dir}/{s}-drain.txt",
    "topics": SOURCE,
    "tasks.max": 2,
}
MINE = {"kafka_topic": SOURCE, "kafka_partition": 0}


def alter(note: str, partition: Any, offset: Any) -> Ask:
    """A request for one partition."""
    return patch(OFFSETS, {"offsets": [{"partition": partition, "offset": offset}]}, note)


def _at(offset: int) -> Until:
    partition = {"kafka_topic": "side-feed", "kafka_partition": 0}
    return Until(
        OFFSETS, {"offsets": [{"partition": partition, "offset": {"kafka_offset": offset}}]}
    )


def _moved(**changes: Any) -> dict[str, Any]:
    return {**MINE, **changes}


STEPS: tuple[Step, ...] = (
    Topic(SOURCE),
    Lines(FEED, "one\ntwo\nthree\n"),
    post("/connectors", {"name": SOURCE, "config": SOURCE_CONFIG}, "feed"),
    *states(SOURCE, "RUNNING", "RUNNING"),
    Until(f"/connectors/{SOURCE}/offsets", {"offsets": [{"offset": {"position": 14}}]}),
    post("/connectors", {"name": NAME, "config": CONFIG}, "drain"),
    *states(NAME, "RUNNING", "RUNNING", "RUNNING"),
    get(PATH),
    get(f"{PATH}/config"),
    get(f"{PATH}/status"),
    get(f"{PATH}/tasks"),
    get("/connectors?expand=info&expand=status", "a source and a sink"),
    Until(f"{PATH}/topics", {"side-drain": {"topics": ["side-feed"]}}),
    get(f"{PATH}/topics"),
    put(f"{PATH}/topics/reset"),
    Until(OFFSETS, {"offsets": [{"partition": {"kafka_topic": "side-feed"}}]}),
    alter("running", MINE, {"kafka_offset": 1}),
    delete(OFFSETS, "running"),
    put(f"{PATH}/stop"),
    *states(NAME, "STOPPED"),
    get(OFFSETS),
    alter("partition null", None, {"kafka_offset": 1}),
    alter("an empty partition", {}, {"kafka_offset": 1}),
    alter("no topic", {"kafka_partition": 0}, {"kafka_offset": 1}),
    alter("no partition number", {"kafka_topic": SOURCE}, {"kafka_offset": 1}),
    alter("topic null", _moved(kafka_topic=None), {"kafka_offset": 1}),
    alter("partition number null", _moved(kafka_partition=None), {"kafka_offset": 1}),
    alter("partition number a word", _moved(kafka_partition="first"), {"kafka_offset": 1}),
    alter("partition number a fraction", _moved(kafka_partition=0.5), {"kafka_offset": 1}),
    alter("partition number too big", _moved(kafka_partition=2**31), {"kafka_offset": 1}),
    alter("no offset key", MINE, {"offset": 1}),
    alter("offset a word", MINE, {"kafka_offset": "first"}),
    alter("offset value null", MINE, {"kafka_offset": None}),
    alter("offset a fraction", MINE, {"kafka_offset": 1.5}),
    alter("offset a boolean", MINE, {"kafka_offset": True}),
    alter("offset negative", MINE, {"kafka_offset": -1}),
    alter("an empty offset", MINE, {}),
    get(OFFSETS, "after the refusals"),
    alter("set", MINE, {"kafka_offset": 1}),
    _at(1),
    alter("set by texts", _moved(kafka_partition="0"), {"kafka_offset": "2"}),
    _at(2),
    get(OFFSETS, "set"),
    alter("another key beside", _moved(more=1), {"kafka_offset": 1, "more": 2}),
    _at(1),
    alter("forgotten", MINE, None),
    Until(OFFSETS, {"offsets": []}),
    get(OFFSETS, "forgotten"),
    alter("forgotten again", MINE, None),
    delete(OFFSETS),
    delete(OFFSETS, "again"),
    get(OFFSETS, "reset"),
    put(f"{PATH}/resume"),
    *states(NAME, "RUNNING", "RUNNING", "RUNNING"),
    delete(PATH),
    *gone(NAME),
    delete(f"/connectors/{SOURCE}"),
    *gone(SOURCE),
)
