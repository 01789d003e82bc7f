"""What only the leader can do is asked of the leader, and its answer passed on."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from penstock.rest.access.caller import current
from penstock.rest.access.peers import signed_for
from penstock.rest.http.calls import Calls
from penstock.rest.http.errors import NEXT_STEP, error_response
from penstock.rest.http.requests import received_body, target
from penstock.runtime.cluster.peers import CONFLICTING, NotLeading
from penstock.runtime.errors import RequestError


def install(app: FastAPI) -> None:
    """Have ``app`` pass on what only the leader can do."""
    app.exception_handler(NotLeading)(_pass_on)


async def _pass_on(request: Request, _: NotLeading) -> Response:
    caller = current()
    if caller.peer:
        return error_response(NotLeading.status, CONFLICTING)  # not in circles
    calls: Calls = request.app.state.calls
    asked = request.method, target(request.scope), received_body(request), signed_for(caller)
    try:
        answer = await calls.run(calls.herder.forward, *asked)
    except RequestError as refusal:
        return error_response(refusal.status, str(refusal), refusal.next_step)
    headers = {"Location": _here(request, answer.location)} if answer.location else {}
    if answer.next_step:
        headers[NEXT_STEP] = answer.next_step
    media_type = "application/json" if answer.body else None
    return Response(answer.body, answer.status, headers, media_type)


def _here(request: Request, location: str) -> str:
    """The same resource, as seen from this worker."""
    return f"{request.base_url}{location.split('/', 3)[-1]}"
