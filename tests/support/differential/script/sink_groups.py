"""A sink that keeps its offsets in a group of the user's choice."""

from __future__ import annotations

from differential.steps import Step, Topic, Until, delete, get, gone, patch, post, put, states

NAME = "{s}-chosen"
PATH = f"/connectors/{NAME}"
OFFSETS = f"{PATH}/offsets"
KEY = "consumer.override.group.id"
CONFIG = {"connector.class": "FileStreamSink", "file": "{dir}/{s}-chosen.txt", "topics": NAME}
CHOSEN = {**CONFIG, KEY: "{s}-group"}
STOPPED = {"name": NAME, "config": CHOSEN, "initial_state": "STOPPED"}
MOVED = {
    "partition": {"kafka_topic": NAME, "kafka_partition": 0},
    "offset": {"kafka_offset": 5},
}

STEPS: tuple[Step, ...] = (
    Topic(NAME),
    post("/connectors", {"name": NAME, "config": {**CONFIG, KEY: "{s}"}}, "the workers' group"),
    post(
        "/connectors",
        {"name": NAME, "config": CHOSEN, "initial_state": "STOPPED"},
        "a chosen group",
    ),
    *states(NAME, "STOPPED"),
    get(f"{PATH}/config"),
    get(OFFSETS, "nothing in the chosen group"),
    patch(OFFSETS, {"offsets": [MOVED]}, "in the chosen group"),
    Until(OFFSETS, {"offsets": [{"offset": {"kafka_offset": 5}}]}),
    get(OFFSETS, "in the chosen group"),
    put(f"{PATH}/config", CONFIG, "its own group"),
    Until(OFFSETS, {"offsets": []}),
    get(OFFSETS, "in its own group"),
    put(f"{PATH}/config", CHOSEN, "the chosen group again"),
    Until(OFFSETS, {"offsets": [{"offset": {"kafka_offset": 5}}]}),
    delete(OFFSETS, "in the chosen group"),
    get(OFFSETS, "after the reset"),
    delete(PATH),
    *gone(NAME),
)
