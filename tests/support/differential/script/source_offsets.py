"""Offsets of a source."""

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

NAME = "{s}-positions"
PATH = f"/connectors/{NAME}"
OFFSETS = f"{PATH}/offsets"
FILE = "{dir}/{s}-positions.txt"
SEEN = FILE.replace("{s}", "side")
CONFIG = {"connector.class": "FileStreamSource", "file": FILE, "topic": NAME}
STOPPED = {"name": NAME, "config": CONFIG, "initial_state": "STOPPED"}


def alter(note: str, partition: Any, offset: Any) -> Ask:
    """A request for one partition."""
    return patch(OFFSETS, {"offsets": [{"partition": partition, "offset": offset}]}, note)


def _at(position: int) -> Until:
    entry = {"partition": {"filename": SEEN}, "offset": {"position": position}}
    return Until(OFFSETS, {"offsets": [entry]})


MINE = {"filename": FILE}

STEPS: tuple[Step, ...] = (
    Topic(NAME),
    Lines(FILE, "one\ntwo\nthree\n"),
    post("/connectors", {"name": NAME, "config": CONFIG}, "positions"),
    *states(NAME, "RUNNING", "RUNNING"),
    _at(14),
    alter("running", MINE, {"position": 4}),
    delete(OFFSETS, "running"),
    put(f"{PATH}/stop"),
    *states(NAME, "STOPPED"),
    get(OFFSETS),
    alter("no position", MINE, {"place": 4}),
    alter("a text as position", MINE, {"position": "4"}),
    alter("a fraction as position", MINE, {"position": 4.5}),
    alter("position null", MINE, {"position": None}),
    alter("a negative position", MINE, {"position": -1}),
    alter("partition null", None, {"position": 4}),
    alter("an empty partition", {}, {"position": 4}),
    alter("another partition key", {"file": FILE}, {"position": 4}),
    alter("a number as file", {"filename": 5}, {"position": 4}),
    alter("a number as file, forgotten", {"filename": 5}, None),
    _at(14),
    alter("a nested partition", {"filename": {"a": 1}}, {"position": 4}),
    alter("a list in a partition", {"filename": [1]}, {"position": 4}),
    alter("a nested offset", MINE, {"position": {"a": 1}}),
    alter("an empty offset", MINE, {}),
    alter("all null", None, None),
    get(OFFSETS, "after the refusals"),
    alter("set", MINE, {"position": 4}),
    _at(4),
    get(OFFSETS, "set"),
    alter("forgotten", MINE, None),
    Until(OFFSETS, {"offsets": []}),
    get(OFFSETS, "forgotten"),
    alter("of a file it does not read", {"filename": "{dir}/{s}-elsewhere"}, {"position": 1}),
    Until(OFFSETS, {"offsets": [{"offset": {"position": 1}}]}),
    delete(OFFSETS),
    Until(OFFSETS, {"offsets": []}),
    delete(OFFSETS, "again"),
    get(OFFSETS, "reset"),
    put(f"{PATH}/resume"),
    *states(NAME, "RUNNING", "RUNNING"),
    _at(14),
    delete(PATH),
    *gone(NAME),
    get(OFFSETS, "deleted"),
    post("/connectors", STOPPED, "positions, again and STOPPED"),
    *states(NAME, "STOPPED"),
    get(OFFSETS, "they are still there"),
    delete(OFFSETS, "created STOPPED"),
    delete(PATH, "at the end"),
    *gone(NAME),
)
