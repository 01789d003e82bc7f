"""What to do next comes beside the error, in a header: the body is Kafka Connect's."""

from __future__ import annotations

from unittest.mock import Mock

import httpx

from penstock.client import advice
from penstock.rest.http.errors import NEXT_STEP
from penstock.runtime.errors import BadRequest, NotFound


def test_the_header_of_an_error(http: httpx.Client, herder: Mock) -> None:
    herder.reset_offsets.side_effect = BadRequest("It runs").advising("Stop it.")
    answer = http.delete("/connectors/n/offsets")
    assert answer.json() == {"error_code": 400, "message": "It runs"}
    assert answer.headers[NEXT_STEP] == "Stop it."
    herder.reset_offsets.side_effect = NotFound("gone")
    assert NEXT_STEP not in http.delete("/connectors/n/offsets").headers


def test_client_and_worker_mean_the_same_header() -> None:
    assert advice.NEXT_STEP == NEXT_STEP
