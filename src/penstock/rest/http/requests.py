"""Parts of a request, as the routes take them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, unquote

from anyio import to_thread
from fastapi import Depends, Query, Request
from starlette.exceptions import HTTPException
from starlette.types import Scope

from penstock.rest.http.limits import MAX_BODY_BYTES, in_time, refuse_deep

MAX_INT = 2**31 - 1
LONG_BODY_BYTES = 100_000

T = TypeVar("T")


async def _name(name: str) -> str:
    return unquote(name)


async def _plugin(plugin: str) -> str:
    return unquote(plugin)


async def _logger(logger: str) -> str:
    return unquote(logger)


async def _task(task: str) -> int:
    decoded = unquote(task)
    if (
        not re.fullmatch(r"[+-]?[0-9]{1,10}", decoded)
        or not -MAX_INT - 1 <= int(decoded) <= MAX_INT
    ):
        raise HTTPException(404)
    return int(decoded)


async def _json_body(request: Request) -> bytes:
    request.state.body = body = await body_of(request, {"application/json"})
    return body


async def body_of(request: Request, media_types: Collection[str]) -> bytes:
    """A whole body, within the limits; 415 for one of another media type."""
    refuse_other_media(request, media_types)
    body = bytearray()
    with in_time():
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise HTTPException(413)
    whole = bytes(body)
    await parsed(refuse_deep, whole)
    return whole


def refuse_other_media(request: Request, media_types: Collection[str]) -> None:
    """415 for other media types. A web page may send a form without asking: name none of these."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in media_types:
        raise HTTPException(415)


async def parsed(parse: Callable[[bytes], T], body: bytes) -> T:
    """What ``parse`` makes of a body; of a long one in a thread, so that others need not wait."""
    if len(body) <= LONG_BODY_BYTES:
        return parse(body)
    return await to_thread.run_sync(parse, body)


def received_body(request: Request) -> bytes:
    """The body that a route has taken, to pass the request on."""
    body: bytes = getattr(request.state, "body", b"")
    return body


def target(scope: Scope) -> str:
    """Path and query as they were sent."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope.get("query_string", b"")
    return (path + b"?" + query if query else path).decode("latin-1")


Name = Annotated[str, Depends(_name)]
"""A connector's name, decoded."""
Plugin = Annotated[str, Depends(_plugin)]
"""A plugin's class or alias, decoded."""
Logger = Annotated[str, Depends(_logger)]
"""A logger's name, decoded."""
Task = Annotated[int, Depends(_task)]
"""A task's number; anything else is an unknown path."""
JsonBody = Annotated[bytes, Depends(_json_body)]
"""The body, not parsed yet; 415 unless it claims to be JSON."""


def flag(name: str) -> Any:
    """A query parameter that is a boolean; read it with `is_true`."""
    return Query(alias=name, description="true or false; anything but true is false")


def is_true(value: str) -> bool:
    """Java's reading of a boolean."""
    return value.lower() == "true"


def location(request: Request, name: str) -> dict[str, str]:
    """The header that says where a new connector is."""
    return {"Location": f"{request.base_url}connectors/{quote(name, safe='')}"}


def takes(schema: dict[str, Any]) -> dict[str, Any]:
    """The part of the OpenAPI document about a body that we parse ourselves."""
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


CONFIG_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "string"}}
