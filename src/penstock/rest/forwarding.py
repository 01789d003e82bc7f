"""What only the leader can do is asked of the leader, and its answer passed on."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from penstock.rest.calls import Calls
from penstock.rest.errors import error_response
from penstock.rest.requests import received_body, target
from penstock.runtime.errors import RequestError
from penstock.runtime.peers import CONFLICTING, NotLeading

EVERYTHING = "admin"
"""The role of whoever asks a worker that asks nobody who he is."""


def install(app: FastAPI) -> None:
    """Have ``app`` pass on what only the leader can do."""
    app.exception_handler(NotLeading)(_pass_on)


async def _pass_on(request: Request, _: NotLeading) -> Response:
    if getattr(request.state, "peer", None) is not None:
        return error_response(NotLeading.status, CONFLICTING)  # not in circles
    calls: Calls = request.app.state.calls
    role = getattr(request.state, "role", EVERYTHING)
    asked = request.method, target(request.scope), received_body(request), role
    try:
        answer = await calls.run(calls.herder.forward, *asked)
    except RequestError as refusal:
        return error_response(refusal.status, str(refusal))
    headers = {"Location": _here(request, answer.location)} if answer.location else {}
    media_type = "application/json" if answer.body else None
    return Response(answer.body, answer.status, headers, media_type)


def _here(request: Request, location: str) -> str:
    """The same resource, as seen from this worker."""
    return f"{request.base_url}{location.split('/', 3)[-1]}"
