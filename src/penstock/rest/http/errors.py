"""Every failure as Kafka Connect's ``{"error_code", "message"}``."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from penstock.rest.http.calls import unexpected
from penstock.runtime.errors import RequestError
from penstock.sdk.errors import PenstockError

log = logging.getLogger(__name__)

# Python names these two otherwise than Kafka Connect's server does.
REASONS = {413: "Request Entity Too Large", 422: "Unprocessable Entity"}


class ErrorMessage(BaseModel):
    """The body of every response that is not a success."""

    error_code: int
    message: str


NEXT_STEP = "Penstock-Next-Step"
"""A header, since Kafka Connect's own readers refuse a body with a third field."""


def error_response(status: int, message: str, next_step: str = "") -> JSONResponse:
    """The response for a failed request; ``next_step`` is for people, in ASCII."""
    headers = {NEXT_STEP: next_step} if next_step else {}
    return JSONResponse({"error_code": status, "message": message}, status, headers)


def http_text(status: int) -> str:
    """What the server itself says, e.g. ``HTTP 404 Not Found``."""
    return f"HTTP {status} {REASONS.get(status) or HTTPStatus(status).phrase}"


def install(app: FastAPI) -> None:
    """Make ``app`` answer every exception with an error message."""
    app.exception_handler(PenstockError)(_refused)
    app.exception_handler(HTTPException)(_http)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(Exception)(_defect)


async def _refused(_: Request, error: PenstockError) -> JSONResponse:
    status = error.status if isinstance(error, RequestError) else 500
    return error_response(status, str(error), error.next_step)


async def _http(_: Request, error: HTTPException) -> JSONResponse:
    response = error_response(error.status_code, http_text(error.status_code))
    response.headers.update(error.headers or {})
    return response


async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    # Not Pydantic's own words, which are for developers.
    return error_response(400, f"{first['loc'][-1]} has a value that cannot be used")


async def _defect(_: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", exc_info=error)
    return error_response(500, unexpected(error))
