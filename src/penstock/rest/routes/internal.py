"""What workers of one cluster ask of each other; not for users."""

from __future__ import annotations

import json

from fastapi import APIRouter, Response

from penstock.rest.access.peers import PEERS_ONLY, Peer
from penstock.rest.http.calls import HerderCalls
from penstock.rest.http.requests import JsonBody, Name

router = APIRouter(include_in_schema=False)


@router.put("/internal/connectors/{name}/{verb}", status_code=204, dependencies=[PEERS_ONLY])
async def do_as_told(name: Name, verb: str, calls: HerderCalls, body: JsonBody) -> Response:
    """The leader has something done with a connector that this worker runs."""
    await calls.run(calls.herder.do_as_told, name, verb, json.loads(body))
    return Response(status_code=204)


@router.post("/connectors/{name}/tasks", status_code=200)
async def take_tasks(name: Name, peer: Peer, calls: HerderCalls, body: JsonBody) -> Response:
    """A worker hands the tasks of a connector that it runs to the leader."""
    await calls.run(calls.herder.take_tasks, name, json.loads(body), peer)
    return Response(status_code=200)
