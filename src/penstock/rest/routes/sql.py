"""SQL in the shapes of ksqlDB's API, over HTTP/1.1 as well. Not part of Kafka Connect's API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import body_of, refuse_other_media, takes
from penstock.rest.sql.api import SqlApi
from penstock.rest.sql.failures import NOT_ACCEPTABLE, Failure
from penstock.rest.sql.inserts import Inserts, lines_of, written
from penstock.rest.sql.shapes import DELIMITED, JSON, KSQL, Delimited, Form, OneArray, StreamedRows
from penstock.runtime.errors import InternalError

router = APIRouter(tags=["sql"])
health = APIRouter(tags=["sql"])
"""What answers while the worker is starting, too."""

MEDIA_TYPES = {JSON, KSQL, DELIMITED}
TEXT, OBJECT = {"type": "string"}, {"type": "object"}
STATEMENTS: dict[str, Any] = {
    "type": "object",
    "required": ["ksql"],
    "properties": {
        "ksql": TEXT,
        "streamsProperties": OBJECT,
        "sessionVariables": OBJECT,
        "commandSequenceNumber": {"type": ["integer", "null"]},
    },
}
QUERY: dict[str, Any] = {
    "type": "object",
    "required": ["sql"],
    "properties": {"sql": TEXT, "properties": OBJECT, "sessionVariables": OBJECT},
}
CLOSING: dict[str, Any] = {
    "type": "object",
    "required": ["queryId"],
    "properties": {"queryId": TEXT},
}
# Each query that is listened to has a thread that waits for its rows.
WAITING = CapacityLimiter(64)


async def _api(request: Request) -> SqlApi:
    api: SqlApi = request.app.state.sql
    return api


async def _body(request: Request) -> bytes:
    return await body_of(request, MEDIA_TYPES)


Api = Annotated[SqlApi, Depends(_api)]
Body = Annotated[bytes, Depends(_body)]


async def failed(_: Request, failure: Exception) -> JSONResponse:
    """The answer to what cannot be done."""
    assert isinstance(failure, Failure)  # noqa: S101 (registered for these)
    return JSONResponse(failure.body(), failure.status)


@router.post("/ksql", openapi_extra=takes(STATEMENTS))
async def run_statements(request: Request, api: Api, calls: HerderCalls, body: Body) -> Response:
    """Run statements in order. An error ends them, and says what was done before it."""
    done = await calls.run(api.statements, body)
    return JSONResponse(done, media_type=KSQL if _accepts(request, KSQL) else JSON)


@router.post("/query", openapi_extra=takes(STATEMENTS))
async def run_query(api: Api, calls: HerderCalls, body: Body) -> Response:
    """Run one SELECT or PRINT: an array of header, rows and a final message, as they come."""
    return await _streamed(api, calls, body, StreamedRows())


@router.post("/query-stream", openapi_extra=takes(QUERY))
async def stream_query(request: Request, api: Api, calls: HerderCalls, body: Body) -> Response:
    """Run one SELECT or PRINT: a header, then rows as they come, a JSON document per line."""
    return await _streamed(api, calls, body, _form(request))


@router.post("/close-query", openapi_extra=takes(CLOSING))
async def close_query(api: Api, calls: HerderCalls, body: Body) -> Response:
    """End a query of this worker."""
    await calls.run(api.close_query, body)
    return Response(status_code=200)


@router.post("/inserts-stream", openapi_extra=takes(OBJECT))
async def insert_rows(request: Request, api: Api, calls: HerderCalls) -> Response:
    """Write rows, a JSON object per line after one with the target; an answer per row."""
    refuse_other_media(request, MEDIA_TYPES)
    lines = lines_of(request.stream())
    first, *rest = await anext(lines, [b""])
    inserts = await calls.run(Inserts, api, first)

    async def told() -> AsyncIterator[bytes]:
        if rest:
            yield written(await calls.run(inserts.rows, rest))
        async for more in lines:
            yield written(await calls.run(inserts.rows, more))

    return _BothWays(told(), media_type=DELIMITED)


@router.get("/info")
async def info(api: Api, calls: HerderCalls) -> Response:
    """Versions, as ksqlDB's clients ask for them."""
    return JSONResponse(await calls.look(api.info))


@health.get("/healthcheck")
async def healthcheck(calls: HerderCalls) -> Response:
    """Whether the worker can be used, as ksqlDB says it."""
    try:
        word, _ = await calls.health()
    except InternalError:
        word = "unhealthy"
    healthy = {"isHealthy": word == "healthy"}
    details = {"metastore": healthy, "kafka": healthy}
    state = {"healthy": "READY", "starting": "STARTING"}.get(word, "ERROR")
    body = {**healthy, "details": details, "serverState": state}
    return JSONResponse(body, 200 if word == "healthy" else 503)


def _accepts(request: Request, media_type: str) -> bool:
    return media_type in request.headers.get("accept", "")


def _form(request: Request) -> Form:
    if _accepts(request, KSQL):
        return StreamedRows()
    return OneArray() if _accepts(request, JSON) else Delimited()


async def _streamed(api: SqlApi, calls: HerderCalls, body: bytes, form: Form) -> Response:
    query = await calls.run(api.query, body, form)
    if query.is_print and isinstance(form, OneArray):
        api.listeners.end(query)
        raise Failure(NOT_ACCEPTABLE, f"PRINT gives lines of text: accept {DELIMITED}.")

    async def texts() -> AsyncIterator[str]:
        try:
            while (text := await _taken(query.take)) is not None:
                if text:
                    yield text
        finally:  # also when the client has gone away
            api.listeners.end(query)

    media_type = "text/plain" if query.is_print else form.media_type
    return StreamingResponse(texts(), media_type=media_type)


async def _taken(take: Callable[[], str | None]) -> str | None:
    return await to_thread.run_sync(take, abandon_on_cancel=True, limiter=WAITING)


class _BothWays(StreamingResponse):
    """An answer that is written while the request is still being read.

    Starlette's own would wait for the client to leave, and so take the request's body away.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.stream_response(send)
