"""Connectors that do not exist, and tasks that are no numbers."""

from __future__ import annotations

from differential.steps import Step, delete, get, patch, post, put

NAME = "/connectors/{s}-stranger"
OFFSETS = {"offsets": [{"partition": {"filename": "f"}, "offset": {"position": 1}}]}

STEPS: tuple[Step, ...] = (
    get(NAME),
    get(NAME + "/"),
    get(f"{NAME}/config"),
    get(f"{NAME}/status"),
    get(f"{NAME}/tasks"),
    get(f"{NAME}/tasks/0/status"),
    get(f"{NAME}/tasks/first/status"),
    get(f"{NAME}/tasks/1.0/status"),
    get(f"{NAME}/tasks/-1/status"),
    get(f"{NAME}/tasks/+1/status"),
    get(f"{NAME}/tasks/99999999999/status"),
    get(f"{NAME}/topics"),
    get(f"{NAME}/offsets"),
    get("/connectors/a%20b%2Fc/status", "a name with a slash"),
    get("/connectors/%C3%A4/status", "a name beyond ASCII"),
    put(f"{NAME}/pause"),
    put(f"{NAME}/resume"),
    put(f"{NAME}/stop"),
    put(f"{NAME}/pause?forward=false"),
    post(f"{NAME}/restart"),
    post(f"{NAME}/restart?includeTasks=true"),
    post(f"{NAME}/restart?onlyFailed=true"),
    post(f"{NAME}/restart?includeTasks=true&onlyFailed=true"),
    post(f"{NAME}/tasks/0/restart"),
    post(f"{NAME}/tasks/first/restart"),
    post(f"{NAME}/tasks/-1/restart"),
    delete(NAME),
    patch(f"{NAME}/config", {"tasks.max": "2"}),
    patch(f"{NAME}/offsets", OFFSETS),
    patch(f"{NAME}/offsets", {"offsets": []}, "no offsets"),
    delete(f"{NAME}/offsets"),
    put(f"{NAME}/topics/reset"),
)
