"""Requests made up from the OpenAPI document: whatever is sent, it is answered well."""

from __future__ import annotations

import re

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openapi_requests import MadeUp, Operation, operations, requests
from penstock.rest.app import create_app
from penstock.runtime.herder import Herder
from penstock.runtime.plugins import Plugins

DOCUMENT = create_app(Herder(Plugins(), "unused")).openapi()
OPERATIONS = list(operations(DOCUMENT))
# What Kafka Connect answers with 500 as well: bodies that its JSON parser cannot read or place.
UNREADABLE = re.compile(
    r"Unrecognized (field|token|character)|Non-standard token|Unexpected (character|end-of-input)"
    r"|Unexpected number|Cannot (deserialize|construct)|Invalid (UTF-8|numeric)|Illegal unquoted"
    r"|The request contains no \"config\""
)


@st.composite
def made_up(draw: st.DrawFn) -> tuple[Operation, MadeUp]:
    """Any operation, and a request for it."""
    operation = draw(st.sampled_from(OPERATIONS))
    return operation, draw(requests(operation))


@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(made_up())
def test_every_made_up_request_is_answered(
    http: httpx.Client, call: tuple[Operation, MadeUp]
) -> None:
    operation, request = call
    response = http.request(
        operation.method,
        request.url,
        params=request.query,
        content=request.content,
        headers={} if request.content is None else {"content-type": "application/json"},
    )
    status = response.status_code
    assert status < 500 or UNREADABLE.search(response.json()["message"]), response.text
    assert str(status) in operation.description["responses"] or status >= 400
    if status >= 400:
        assert response.json()["error_code"] == status
        assert isinstance(response.json()["message"], str)


def test_the_document_is_served_and_covers_every_path(http: httpx.Client) -> None:
    served = http.get("/openapi.json")
    assert served.status_code == 200
    assert served.json()["paths"].keys() == DOCUMENT["paths"].keys()
    assert {"/connectors/{name}/offsets", "/admin/loggers/{logger}", "/health"} <= set(
        DOCUMENT["paths"]
    )
