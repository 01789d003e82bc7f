"""/admin/loggers: which herder method is called, and Kafka Connect's status codes and bodies."""

from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from penstock.rest import create_app
from penstock.rest.access.protection import Protection
from penstock.runtime.config.rest_config import RestConfig
from penstock.runtime.errors import BadRequest, NotFound
from served_app import serving

ENTRY = {"level": "INFO", "last_modified": None}


def test_looking(http: httpx.Client, herder: Mock) -> None:
    herder.loggers.return_value = {"root": ENTRY}
    herder.logger.return_value = ENTRY
    assert http.get("/admin/loggers").json() == {"root": ENTRY}
    assert http.get("/admin/loggers/connector%2Ea%2Fb").json() == ENTRY
    herder.logger.assert_called_once_with("connector.a/b")


def test_a_worker_without_admin_endpoints(herder: Mock) -> None:
    off = Protection.of(RestConfig.from_properties({"admin.listeners": " "}))
    with serving(create_app(herder, protection=off)) as http:
        answers = [
            http.get("/admin/loggers"),
            http.get("/admin/loggers/root"),
            http.put("/admin/loggers/root", json={"level": "DEBUG"}),
        ]
    gone = {"error_code": 404, "message": "HTTP 404 Not Found"}
    assert [answer.json() for answer in answers] == [gone] * 3
    herder.set_logger_level.assert_not_called()


@pytest.mark.parametrize("query", ["", "?scope=worker", "?scope=other"])
def test_changing(http: httpx.Client, herder: Mock, query: str) -> None:
    herder.set_logger_level.return_value = ["a.b", "a.b.c"]
    response = http.put(f"/admin/loggers/a.b{query}", json={"level": "DEBUG"})
    herder.set_logger_level.assert_called_once_with("a.b", "DEBUG")
    assert (response.status_code, response.json()) == (200, ["a.b", "a.b.c"])


def test_changing_for_the_cluster(http: httpx.Client, herder: Mock) -> None:
    response = http.put("/admin/loggers/a.b?scope=CLUSTER", json={"level": "DEBUG"})
    herder.set_cluster_logger_level.assert_called_once_with("a.b", "DEBUG")
    herder.set_logger_level.assert_not_called()
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize("body", [{}, {"level": None}, {"other": "x"}])
def test_without_a_level_the_herder_decides(http: httpx.Client, herder: Mock, body: Any) -> None:
    herder.set_logger_level.side_effect = BadRequest("Desired 'level'")
    assert http.put("/admin/loggers/root", json=body).status_code == 400
    herder.set_logger_level.assert_called_once_with("root", None)


def test_refusals(http: httpx.Client, herder: Mock) -> None:
    herder.logger.side_effect = NotFound("Logger x not found.")
    response = http.get("/admin/loggers/x")
    assert (response.status_code, response.json()["message"]) == (404, "Logger x not found.")


def test_they_answer_while_the_worker_is_starting(http: httpx.Client, herder: Mock) -> None:
    herder.health.return_value = ("starting", "not yet")
    herder.loggers.return_value = {}
    assert http.get("/admin/loggers").status_code == 200
