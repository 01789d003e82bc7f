"""Requests that schemathesis makes up from the served OpenAPI document, and what is answered.

What is sent is the same in every run. A failure shows the request as a command for curl.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from unittest.mock import create_autospec

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, BaseSchema, Case, CheckContext, GenerationMode, Response
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from penstock.client import ConnectClient
from penstock.consumers import Offset
from penstock.consumers.directory import Directory
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.rest.app import create_app
from penstock.rest.consumers_api import ConsumersApi
from penstock.rest.herder_api import HerderApi
from topics import Topics

UNASKED = ConsumersApi(lambda: Connection("unasked:9092"))
DOCUMENT = create_app(create_autospec(HerderApi), consumers=UNASKED).openapi()
OPERATIONS = {
    f"{method.upper()} {path}": described
    for path, methods in DOCUMENT["paths"].items()
    for method, described in methods.items()
}
# What Kafka Connect answers with 500 as well: bodies that its JSON parser cannot read or place, and
# offsets that it or its file source refuses; tests/integration/differential asks both.
AS_KAFKA_CONNECT = re.compile(
    r"Unrecognized (field|token|character)|Non-standard token|Unexpected (character|end-of-input)"
    r"|Unexpected number|Cannot (deserialize|construct)|Invalid (UTF-8|numeric)|Illegal unquoted"
    r"|The request contains no \"config\""
    r"|Offsets may only contain primitive types|Offset objects should|Partition objects "
    r"|The value for the 'position' key"
)
WITH_BODY = [label for label, described in OPERATIONS.items() if "requestBody" in described]
ANYTHING = [(label, GenerationMode.POSITIVE) for label in OPERATIONS]
# Any text fits a path or a query: only bodies can be of another kind than the document says.
MISFITS = [(label, GenerationMode.NEGATIVE) for label in WITH_BODY]
Find = Callable[[str], APIOperation]
PATIENCE = 95
"""Seconds: a worker answers within 90, if only with 500."""


def examples(count: int) -> settings:
    """So many, the same in every run."""
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def answered_well(_: CheckContext, response: Response, case: Case) -> None:
    """A documented success, or a refusal in Kafka Connect's form; no 5xx but those it has too."""
    status = response.status_code
    if status < 400:
        assert str(status) in case.operation.responses.status_codes, f"{status} is not documented"
        return
    told = response.json()
    assert told["error_code"] == status
    assert isinstance(told["message"], str)
    assert status < 500 or AS_KAFKA_CONNECT.search(told["message"]), response.text


CHECKS = [
    answered_well,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def api(client: ConnectClient) -> BaseSchema:
    """The document that the worker serves."""
    return schemathesis.openapi.from_url(f"{client.url}/openapi.json")


@pytest.fixture(scope="module")
def find(api: BaseSchema) -> Find:
    """An operation of the document, by its method and path."""

    def one(label: str) -> APIOperation:
        method, path = label.split()
        return api[path][method]

    return one


@pytest.mark.heavy
@pytest.mark.parametrize(("label", "mode"), [*ANYTHING, *MISFITS])
def test_every_made_up_request_is_answered(
    find: Find, connectors: ConnectClient, label: str, mode: GenerationMode
) -> None:
    @examples(20)
    @given(find(label).as_strategy(mode))
    def check(case: Case) -> None:
        small(case).call_and_validate(checks=CHECKS, timeout=PATIENCE)

    check()


def small(case: Case) -> Case:
    """A topic of millions of partitions would be made, and keep the broker busy for long."""
    body = case.body if case.path == "/topics" and isinstance(case.body, dict) else {}
    count = body.get("partitions")
    if isinstance(count, int):
        case.body = {**body, "partitions": min(count, 2)}
    return case


def test_requests_about_a_connector_that_is_there(
    find: Find, connectors: ConnectClient, name: str, tmp_path: Path
) -> None:
    """Else nearly everything would be answered with 404."""
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "lines"), "topic": name}
    answered: dict[str, set[int]] = defaultdict(set)
    about = [each for each in (*ANYTHING, *MISFITS) if "/connectors/{name}" in each[0]]
    for label, mode in about:

        @examples(8)
        @given(find(label).as_strategy(mode, path_parameters={"name": name}))
        def check(case: Case) -> None:
            if name not in connectors.connectors():
                connectors.create(name, config, "STOPPED")
            response = case.call_and_validate(checks=CHECKS, timeout=PATIENCE)
            answered[case.operation.label].add(response.status_code)

        check()
    # A config or an offset that is made up is refused, and so is a task; there is no plan of this.
    left_out = {*WITH_BODY, "GET /connectors/{name}/plan"}
    simple = {label for label, _ in about if label not in left_out and "{task}" not in label}
    assert len(simple) == 14
    assert {label for label, found in answered.items() if min(found) < 400} >= simple


@pytest.mark.parametrize("kind", ["/topics/{name}", "/consumers/{name}"])
def test_requests_about_a_topic_and_a_consumer_that_are_there(
    find: Find, broker: EmbeddedBroker, topics: Topics, name: str, kind: str
) -> None:
    directory = Directory(Connection(broker.bootstrap_servers))
    answered: dict[str, set[int]] = defaultdict(set)
    for label, mode in (each for each in (*ANYTHING, *MISFITS) if kind in each[0]):

        @examples(8)
        @given(find(label).as_strategy(mode, path_parameters={"name": name}))
        def check(case: Case) -> None:
            if name not in topics.admin.list_topics(timeout=20).topics:
                topics.create(name)
            if not directory.stands(name):
                directory.reset(name, name, Offset.beginning())
            case.query = {}  # else it would be about other partitions than the one there is
            if isinstance(case.body, dict) and "to" in case.body:
                case.body = {**case.body, "topic": name}
            response = case.call_and_validate(checks=CHECKS, timeout=PATIENCE)
            answered[case.operation.label].add(response.status_code)

        check()
    simple = {label for label in answered if not label.endswith("/reset")}
    assert len(simple) == (3 if "topics" in kind else 2)
    assert {label for label in simple if min(answered[label]) < 400} == simple


@pytest.mark.parametrize("label", WITH_BODY)
def test_bodies_that_are_no_json(find: Find, connectors: ConnectClient, label: str) -> None:
    """Schemathesis makes up JSON alone."""

    @examples(25)
    @given(find(label).as_strategy(), st.binary(max_size=30))
    def check(case: Case, body: bytes) -> None:
        url = f"{connectors.url}{case.formatted_path}"
        kind = {"content-type": "application/json"}
        response = httpx.request(
            case.method, url, content=body, headers=kind, trust_env=False, timeout=PATIENCE
        )
        case.validate_response(response, checks=CHECKS)

    check()


def test_the_document_is_served_and_covers_every_path(http: httpx.Client) -> None:
    served = http.get("/openapi.json")
    assert served.status_code == 200
    assert served.json() == DOCUMENT
    some = {"/connectors/{name}/offsets", "/admin/loggers/{logger}", "/health"}
    assert some | {"/consumers/{name}/reset", "/topics/{name}"} <= set(DOCUMENT["paths"])
