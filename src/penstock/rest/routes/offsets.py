"""Offsets of a connector (KIP-875): look in any state, alter and reset while it is stopped."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from penstock.rest.herder_api import HerderApi
from penstock.rest.http import answers
from penstock.rest.http.answers import gives
from penstock.rest.http.bodies import offset_list
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.long_json import LongJson
from penstock.rest.http.requests import JsonBody, Name, parsed, takes

router = APIRouter(prefix="/connectors/{name}/offsets", tags=["offsets"])

ENTRY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"partition": {"type": "object"}, "offset": {"type": ["object", "null"]}},
}
OFFSETS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["offsets"],
    "properties": {"offsets": {"type": "array", "items": ENTRY_SCHEMA}},
}


@router.get("", responses=gives(answers.OFFSETS))
async def get_offsets(name: Name, calls: HerderCalls) -> JSONResponse:
    """All offsets. A sink's are asked of the broker, so this is no mere look."""
    return await calls.run(_written_offsets, calls.herder, name)


def _written_offsets(herder: HerderApi, name: str) -> JSONResponse:
    """There may be very many: only this request waits for them to be written."""
    return LongJson(herder.offsets(name))


@router.patch("", openapi_extra=takes(OFFSETS_SCHEMA), responses=gives(answers.MESSAGE))
async def alter_offsets(name: Name, calls: HerderCalls, body: JsonBody) -> JSONResponse:
    """Set the offsets of the given partitions; null forgets one, others stay as they are."""
    offsets = await parsed(offset_list, body)
    message = await calls.run(calls.herder.alter_offsets, name, offsets)
    return JSONResponse({"message": message})


@router.delete("", responses=gives(answers.MESSAGE))
async def reset_offsets(name: Name, calls: HerderCalls) -> JSONResponse:
    """Forget all offsets: the connector starts from the beginning."""
    return JSONResponse({"message": await calls.run(calls.herder.reset_offsets, name)})
