"""Named consumers and topics, for the UI and for programs. Not part of Kafka Connect's API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from penstock.rest.consumers_api import ConsumersApi
from penstock.rest.http import answers
from penstock.rest.http.answers import gives
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import JsonBody, Name, flag, is_true, takes

router = APIRouter(tags=["consumers"])


async def _api(request: Request) -> ConsumersApi:
    api: ConsumersApi = request.app.state.consumers
    return api


Api = Annotated[ConsumersApi, Depends(_api)]
Force = Annotated[str, flag("force")]
TEXT = {"type": ["string", "null"]}
TTL_BODY: dict[str, Any] = {"type": "object", "properties": {"ttl": TEXT}}
TOPIC_TTL_BODY: dict[str, Any] = {"type": "object", "properties": {"consumer_ttl": TEXT}}
RESET_BODY: dict[str, Any] = {
    "type": "object",
    "required": ["topic", "to"],
    "properties": {
        "topic": answers.STRING,
        "to": answers.ANY_OBJECT,
        "partitions": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "take_over": {"type": "boolean"},
    },
}
TOPIC_BODY: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": answers.STRING,
        "partitions": {"type": "integer", "minimum": 1},
        "replication": {"type": "integer", "minimum": -1},
        "config": {"type": "object", "additionalProperties": answers.STRING},
        "consumer_ttl": TEXT,
    },
}


@router.get("/consumers", responses=gives(answers.CONSUMERS))
async def get_consumers(calls: HerderCalls, api: Api) -> JSONResponse:
    """Where every named consumer stands, partition by partition."""
    return JSONResponse(await calls.run(api.consumers))


@router.delete("/consumers/{name}", responses=gives(answers.CONSUMERS))
async def delete_consumer(
    name: Name,
    calls: HerderCalls,
    api: Api,
    *,
    topic: Annotated[str | None, Query()] = None,
    partition: Annotated[int | None, Query()] = None,
    force: Force = "false",
) -> JSONResponse:
    """Forget a consumer, or what it has read of a topic or partition; what was forgotten."""

    def delete() -> Any:
        return api.delete_consumer(name, topic, partition, force=is_true(force))

    return JSONResponse(await calls.run(delete))


@router.patch("/consumers/{name}", status_code=204, openapi_extra=takes(TTL_BODY))
async def update_consumer(name: Name, calls: HerderCalls, api: Api, body: JsonBody) -> Response:
    """Set how long a consumer is kept that nothing is heard of: ``{"ttl": "7d"}``, or null."""
    await calls.run(api.keep_consumer, name, body)
    return Response(status_code=204)


@router.post(
    "/consumers/{name}/reset",
    openapi_extra=takes(RESET_BODY),
    responses=gives(answers.CONSUMERS),
)
async def reset_consumer(name: Name, calls: HerderCalls, api: Api, body: JsonBody) -> JSONResponse:
    """Have a consumer go on elsewhere: ``{"topic": "orders", "to": {"beginning": 0}}``."""
    return JSONResponse(await calls.run(api.reset_consumer, name, body))


@router.get("/topics", responses=gives(answers.ALL_TOPICS))
async def get_topics(
    calls: HerderCalls, api: Api, internal: Annotated[str, flag("internal")] = "false"
) -> JSONResponse:
    """All topics; with ``internal`` also Kafka's and Penstock's own."""
    return JSONResponse(await calls.run(lambda: api.topics(internal=is_true(internal))))


@router.post(
    "/topics", status_code=201, openapi_extra=takes(TOPIC_BODY), responses=gives(answers.TOPIC, 201)
)
async def create_topic(calls: HerderCalls, api: Api, body: JsonBody) -> JSONResponse:
    """Make a topic."""
    return JSONResponse(await calls.run(api.create_topic, body), 201)


@router.get("/topics/{name}", responses=gives(answers.TOPIC))
async def get_topic(name: Name, calls: HerderCalls, api: Api) -> JSONResponse:
    """A topic, with its consumers."""
    return JSONResponse(await calls.run(api.topic, name))


@router.patch("/topics/{name}", openapi_extra=takes(TOPIC_TTL_BODY), responses=gives(answers.TOPIC))
async def update_topic(name: Name, calls: HerderCalls, api: Api, body: JsonBody) -> JSONResponse:
    """Set how long its consumers are kept that have no time of their own."""
    return JSONResponse(await calls.run(api.keep_consumers_of, name, body))


@router.delete("/topics/{name}", responses=gives(answers.CONSUMERS))
async def delete_topic(
    name: Name, calls: HerderCalls, api: Api, force: Force = "false"
) -> JSONResponse:
    """Delete a topic; the consumers that went with it. An internal one only with ``force``."""
    return JSONResponse(await calls.run(lambda: api.delete_topic(name, force=is_true(force))))
