"""Log levels at run time. These answer while the worker is starting, too."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from penstock.rest.http import answers
from penstock.rest.http.answers import gives
from penstock.rest.http.bodies import config_map
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import JsonBody, Logger, takes

router = APIRouter(prefix="/admin/loggers", tags=["loggers"])

LEVEL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["level"],
    "properties": {"level": {"type": "string"}},
}


@router.get("", responses=gives(answers.LOGGERS))
async def list_loggers(calls: HerderCalls) -> JSONResponse:
    """The loggers of this worker, each with its level and when that was changed."""
    return JSONResponse(await calls.look(calls.herder.loggers))


@router.get("/{logger}", responses=gives(answers.LOGGER))
async def get_logger(logger: Logger, calls: HerderCalls) -> JSONResponse:
    """The level of a logger and when it was changed."""
    return JSONResponse(await calls.look(calls.herder.logger, logger))


@router.put(
    "/{logger}",
    openapi_extra=takes(LEVEL_SCHEMA),
    responses={
        **gives(answers.NAMES),
        204: {"description": "Changed, or about to be, on all workers"},
    },
)
async def set_level(
    logger: Logger, calls: HerderCalls, body: JsonBody, scope: str = "worker"
) -> Response:
    """Set the level of a logger and of those below it; ``connector.<name>`` is a connector's.

    Answers with the names of those that changed; with ``scope=cluster``, which is for all workers
    of the cluster, with 204.
    """
    level = config_map(body).get("level")
    if scope.lower() == "cluster":
        await calls.run(calls.herder.set_cluster_logger_level, logger, level)
        return Response(status_code=204)
    return JSONResponse(await calls.look(calls.herder.set_logger_level, logger, level))
