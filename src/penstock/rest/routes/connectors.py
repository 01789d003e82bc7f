"""Connectors: create, configure, look at and control them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from penstock.rest.herder_api import HerderApi, Json
from penstock.rest.http import answers
from penstock.rest.http.answers import gives
from penstock.rest.http.bodies import config_map, create_request
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.long_json import LongJson
from penstock.rest.http.requests import (
    CONFIG_SCHEMA,
    JsonBody,
    Name,
    Task,
    flag,
    is_true,
    location,
    parsed,
    takes,
)
from penstock.runtime.errors import NotFound

router = APIRouter(prefix="/connectors", tags=["connectors"])

CREATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "config"],
    "properties": {
        "name": {"type": "string"},
        "config": CONFIG_SCHEMA,
        "initial_state": {"enum": ["RUNNING", "PAUSED", "STOPPED"]},
    },
}


@router.get("", responses=gives(answers.CONNECTORS))
async def list_connectors(
    calls: HerderCalls, expand: Annotated[list[str] | None, Query()] = None
) -> JSONResponse:
    """Names of all connectors; ``expand=status`` and ``expand=info`` give a map with these.

    ``expand=metrics`` too, which Kafka Connect does not have.
    """
    if expand is None:
        return JSONResponse(await calls.look(calls.herder.connectors))
    return LongJson(await calls.look(expanded, calls.herder, expand))


def expanded(herder: HerderApi, parts: Sequence[str]) -> dict[str, Json]:
    """Every connector with the parts asked for, without those that lack one."""
    readers = {"status": herder.status, "info": herder.info, "metrics": herder.metrics}
    found: dict[str, Json] = {}
    for name in herder.connectors():
        try:
            found[name] = {part: readers[part](name) for part in parts if part in readers}
        except NotFound:
            continue
    return found


@router.post(
    "",
    status_code=201,
    openapi_extra=takes(CREATE_SCHEMA),
    responses=gives(answers.INFO, 201, "Created"),
)
async def create_connector(request: Request, calls: HerderCalls, body: JsonBody) -> JSONResponse:
    """Create a connector; 409 if there is one of this name."""
    asked = await parsed(create_request, body)
    info = await calls.run(calls.herder.create, asked.name, asked.config, asked.initial_state)
    return JSONResponse(info, 201, location(request, asked.name))


@router.get("/{name}", responses=gives(answers.INFO))
async def get_connector(name: Name, calls: HerderCalls) -> JSONResponse:
    """Name, config, tasks and type of a connector."""
    return JSONResponse(await calls.look(calls.herder.info, name))


@router.delete("/{name}", status_code=204)
async def delete_connector(name: Name, calls: HerderCalls) -> Response:
    """Remove a connector. Its offsets stay: the next one of this name goes on from them."""
    await calls.run(calls.herder.delete, name)
    return Response(status_code=204)


@router.get("/{name}/config", responses=gives(CONFIG_SCHEMA))
async def get_config(name: Name, calls: HerderCalls) -> JSONResponse:
    """The config as it was sent."""
    return JSONResponse(await calls.look(calls.herder.config, name))


@router.put(
    "/{name}/config",
    openapi_extra=takes(CONFIG_SCHEMA),
    responses={**gives(answers.INFO), **gives(answers.INFO, 201, "Created")},
)
async def put_config(
    request: Request, name: Name, calls: HerderCalls, body: JsonBody
) -> JSONResponse:
    """Give a connector this config; 201 if it did not exist."""
    config = await parsed(config_map, body)
    created, info = await calls.run(calls.herder.put_config, name, config)
    return JSONResponse(info, 201, location(request, name)) if created else JSONResponse(info)


@router.patch("/{name}/config", openapi_extra=takes(CONFIG_SCHEMA), responses=gives(answers.INFO))
async def patch_config(name: Name, calls: HerderCalls, body: JsonBody) -> JSONResponse:
    """Change some keys of a config; null deletes a key."""
    patch = await parsed(config_map, body)
    return JSONResponse(await calls.run(calls.herder.patch_config, name, patch))


@router.get("/{name}/status", responses=gives(answers.STATUS))
async def get_status(name: Name, calls: HerderCalls) -> JSONResponse:
    """States of a connector and its tasks, with the trace of what failed."""
    return JSONResponse(await calls.look(calls.herder.status, name))


@router.put("/{name}/pause", status_code=202, response_class=Response)
async def pause(name: Name, calls: HerderCalls) -> Response:
    """Let a connector rest with its tasks kept."""
    await calls.run(calls.herder.pause, name)
    return Response(status_code=202)


@router.put("/{name}/resume", status_code=202, response_class=Response)
async def resume(name: Name, calls: HerderCalls) -> Response:
    """Let a paused or stopped connector go on."""
    await calls.run(calls.herder.resume, name)
    return Response(status_code=202)


@router.put("/{name}/stop", status_code=204)
async def stop(name: Name, calls: HerderCalls) -> Response:
    """Shut a connector's tasks down; its offsets can be altered then."""
    await calls.run(calls.herder.stop, name)
    return Response(status_code=204)


@router.post(
    "/{name}/restart",
    status_code=204,
    responses=gives(answers.STATUS, 202, "The states planned"),
)
async def restart(
    name: Name,
    calls: HerderCalls,
    include_tasks: Annotated[str, flag("includeTasks")] = "false",
    only_failed: Annotated[str, flag("onlyFailed")] = "false",
) -> Response:
    """Restart a connector (204); with a flag that is true, its parts (202 and their states)."""
    flags = (is_true(include_tasks), is_true(only_failed))
    status = await calls.run(calls.herder.restart, name, *flags)
    return Response(status_code=204) if status is None else JSONResponse(status, 202)


@router.get("/{name}/tasks", responses=gives(answers.TASKS))
async def get_tasks(name: Name, calls: HerderCalls) -> JSONResponse:
    """The tasks of a connector with their configs."""
    return JSONResponse(await calls.look(calls.herder.tasks, name))


@router.get("/{name}/tasks/{task}/status", responses=gives(answers.TASK_STATUS))
async def get_task_status(name: Name, task: Task, calls: HerderCalls) -> JSONResponse:
    """The state of one task."""
    return JSONResponse(await calls.look(calls.herder.task_status, name, task))


@router.post("/{name}/tasks/{task}/restart", status_code=204)
async def restart_task(name: Name, task: Task, calls: HerderCalls) -> Response:
    """Restart one task."""
    await calls.run(calls.herder.restart_task, name, task)
    return Response(status_code=204)


@router.get("/{name}/topics", responses=gives(answers.TOPICS))
async def get_topics(name: Name, calls: HerderCalls) -> JSONResponse:
    """The topics that a connector has used."""
    return JSONResponse(await calls.look(calls.herder.topics, name))


@router.put("/{name}/topics/reset", status_code=202, response_class=Response)
async def reset_topics(name: Name, calls: HerderCalls) -> Response:
    """Forget the topics that a connector has used."""
    await calls.run(calls.herder.reset_topics, name)
    return Response(status_code=202)
