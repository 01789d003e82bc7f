"""The worker itself, and paths and verbs that lead nowhere."""

from __future__ import annotations

from differential.steps import Ask, Step, get, post, put

STEPS: tuple[Step, ...] = (
    get("/"),
    get("/?anything=goes"),
    get("/health"),
    get("/health/", "a slash at the end"),
    get("/connectors", "none yet"),
    get("/connectors/", "a slash at the end"),
    get("/connectors?expand=status", "none yet"),
    get("/connectors?expand=nothing", "none yet"),
    get("/connectors?expand", "no value"),
    Ask("HEAD", "/connectors"),
    Ask("HEAD", "/nowhere"),
    get("/nowhere"),
    get("/connector"),
    get("/admin"),
    get("/openapi"),
    get("/connectors/{s}-x/nowhere"),
    get("/connectors/{s}-x/tasks-config"),
    get("/connectors/{s}-x/tasks/0"),
    get("/connectors/{s}-x/config/more"),
    get("/connectors//status", "no name"),
    post("/"),
    put("/health"),
    put("/connectors"),
    Ask("DELETE", "/connectors"),
    post("/connectors/{s}-x/status"),
    get("/connectors/{s}-x/pause"),
    post("/connectors/{s}-x/pause"),
    get("/connectors/{s}-x/restart"),
    put("/connectors/{s}-x/restart"),
    get("/connectors/{s}-x/topics/reset"),
    put("/connectors/{s}-x/offsets"),
    post("/connector-plugins"),
    post("/connector-plugins/FileStreamSource/config/validate", {}),
    post("/admin/loggers/root", {"level": "INFO"}),
    put("/connectors/{s}-x/tasks/0/status"),
)
