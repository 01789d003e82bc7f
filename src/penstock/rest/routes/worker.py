"""The worker itself: who it is and how it is. These answer while it is starting, too."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from penstock.rest.http import answers
from penstock.rest.http.answers import Responses, gives
from penstock.rest.http.calls import HerderCalls
from penstock.runtime.errors import InternalError

router = APIRouter(tags=["worker"])

HEALTH: Responses = {
    **gives(answers.HEALTH),
    **gives(answers.HEALTH, 500, "It is unhealthy"),
    **gives(answers.HEALTH, 503, "It is starting"),
}
HEALTH_STATUS = {"healthy": 200, "starting": 503, "unhealthy": 500}


@router.get("/", responses=gives(answers.ROOT))
async def root(calls: HerderCalls) -> JSONResponse:
    """Version of Kafka Connect's API and of Penstock, and id of the Kafka cluster."""
    return JSONResponse(await calls.look(calls.herder.root))


@router.get("/health", responses=HEALTH)
async def health(calls: HerderCalls) -> JSONResponse:
    """200 when the worker is ready, 503 while it is starting, 500 when it is unhealthy."""
    try:
        status, message = await calls.health()
    except InternalError as error:
        status, message = "unhealthy", str(error)
    return JSONResponse({"status": status, "message": message}, HEALTH_STATUS[status])
