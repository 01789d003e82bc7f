"""Every endpoint: which herder method it calls, and Kafka Connect's status codes and bodies."""

from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from penstock.runtime.errors import NotFound

INFO = {"name": "n", "config": {"name": "n"}, "tasks": [], "type": "source"}
STATUS = {"name": "n", "connector": {"state": "RUNNING"}, "tasks": [], "type": "source"}
OFFSETS = {"offsets": [{"partition": {"filename": "f"}, "offset": {"position": 5}}]}
PATCH = {"a": None, "b": 1}
PATCHED = {"a": None, "b": "1"}


@pytest.mark.parametrize(
    ("asked", "body", "called", "returned", "status"),
    [
        ("GET /", None, ("root",), {"version": "1"}, 200),
        ("GET /connectors", None, ("connectors",), ["a"], 200),
        ("GET /connectors/n", None, ("info", "n"), INFO, 200),
        ("GET /connectors/n/config", None, ("config", "n"), {"a": "b"}, 200),
        ("GET /connectors/n/status", None, ("status", "n"), STATUS, 200),
        ("GET /connectors/n/metrics", None, ("metrics", "n"), {"name": "n"}, 200),
        ("GET /connectors/n/plan", None, ("plan", "n"), {"name": "n"}, 200),
        ("GET /connectors/n/tasks", None, ("tasks", "n"), [{"id": {}}], 200),
        ("GET /connectors/n/topics", None, ("topics", "n"), {"n": {"topics": []}}, 200),
        ("GET /connectors/n/offsets", None, ("offsets", "n"), OFFSETS, 200),
        ("GET /connectors/n/tasks/3/status", None, ("task_status", "n", 3), {"id": 3}, 200),
        ("DELETE /connectors/n", None, ("delete", "n"), None, 204),
        ("PUT /connectors/n/pause", None, ("pause", "n"), None, 202),
        ("PUT /connectors/n/resume", None, ("resume", "n"), None, 202),
        ("PUT /connectors/n/stop", None, ("stop", "n"), None, 204),
        ("PUT /connectors/n/topics/reset", None, ("reset_topics", "n"), None, 202),
        ("POST /connectors/n/tasks/0/restart", None, ("restart_task", "n", 0), None, 204),
        ("POST /connectors", {"name": "n", "config": {}}, ("create", "n", {}, None), INFO, 201),
        ("PATCH /connectors/n/config", PATCH, ("patch_config", "n", PATCHED), INFO, 200),
        ("GET /connector-plugins/P/config", None, ("plugin_config", "P"), [{"name": "a"}], 200),
        ("PUT /connector-plugins/P/config/validate", {}, ("validate", "P", {}), {"k": 1}, 200),
    ],
)
def test_endpoint(
    http: httpx.Client,
    herder: Mock,
    *,
    asked: str,
    body: Any,
    called: Any,
    returned: Any,
    status: int,
) -> None:
    method, path = asked.split()
    name, *args = called
    getattr(herder, name).return_value = returned
    response = http.request(method, path, json=body)
    getattr(herder, name).assert_called_once_with(*args)
    assert response.status_code == status
    assert (response.json() if response.content else None) == returned


def test_offset_changes_answer_with_a_message(http: httpx.Client, herder: Mock) -> None:
    herder.alter_offsets.return_value = "altered"
    herder.reset_offsets.return_value = "reset"
    altered = http.patch("/connectors/n/offsets", json=OFFSETS)
    assert (altered.status_code, altered.json()) == (200, {"message": "altered"})
    herder.alter_offsets.assert_called_once_with("n", OFFSETS["offsets"])
    reset = http.delete("/connectors/n/offsets")
    assert (reset.status_code, reset.json()) == (200, {"message": "reset"})


def test_put_of_a_known_connector_is_200(http: httpx.Client, herder: Mock) -> None:
    herder.put_config.return_value = (False, INFO)
    response = http.put("/connectors/n/config?forward=true", json={"a": "b"})
    herder.put_config.assert_called_once_with("n", {"a": "b"})
    assert (response.status_code, response.json()) == (200, INFO)


def test_create_says_where_the_connector_is(http: httpx.Client, herder: Mock) -> None:
    herder.create.return_value = INFO
    response = http.post("/connectors", json={"name": " a->b ", "config": {}})
    herder.create.assert_called_once_with("a->b", {}, None)
    assert response.headers["location"] == f"{http.base_url}/connectors/a-%3Eb"


def test_put_of_a_new_connector_is_201(http: httpx.Client, herder: Mock) -> None:
    herder.put_config.return_value = (True, INFO)
    response = http.put("/connectors/n/config", json={})
    assert response.status_code == 201
    assert response.headers["location"].endswith("/connectors/n")


@pytest.mark.parametrize(
    ("query", "flags", "returned", "status"),
    [
        ("", (False, False), None, 204),
        ("?includeTasks=false&onlyFailed=false", (False, False), None, 204),
        ("?includeTasks=TRUE", (True, False), STATUS, 202),
        ("?onlyFailed=true&forward=false", (False, True), STATUS, 202),
        ("?includeTasks=yes&onlyFailed=", (False, False), None, 204),
    ],
)
def test_restart(
    http: httpx.Client, herder: Mock, *, query: str, flags: Any, returned: Any, status: int
) -> None:
    herder.restart.return_value = returned
    response = http.post(f"/connectors/n/restart{query}")
    herder.restart.assert_called_once_with("n", *flags)
    assert response.status_code == status
    assert (response.json() if response.content else None) == returned


@pytest.mark.parametrize(
    ("query", "only"),
    [("", True), ("?connectorsOnly=false", False), ("?connectorsOnly=True", True)],
)
def test_plugins(http: httpx.Client, herder: Mock, query: str, only: bool) -> None:
    herder.plugins.return_value = []
    assert http.get(f"/connector-plugins{query}").json() == []
    herder.plugins.assert_called_once_with(only)


def test_expanded_list_leaves_out_what_has_no_status(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = ["a", "b"]
    herder.status.side_effect = lambda name: STATUS if name == "a" else _raise(NotFound("none"))
    herder.info.return_value = INFO
    both = http.get("/connectors?expand=status&expand=info").json()
    assert both == {"a": {"status": STATUS, "info": INFO}}
    assert http.get("/connectors?expand=info").json() == {"a": {"info": INFO}, "b": {"info": INFO}}
    assert http.get("/connectors?expand=other").json() == {"a": {}, "b": {}}


def test_the_expanded_list_has_metrics_when_asked_for(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = ["a"]
    herder.metrics.return_value = {"records_total": 5}
    herder.info.return_value = INFO
    listed = http.get("/connectors?expand=info&expand=metrics").json()
    assert listed == {"a": {"info": INFO, "metrics": {"records_total": 5}}}


def test_the_page_for_prometheus(http: httpx.Client, herder: Mock) -> None:
    herder.metrics_text.return_value = 'a_total{name="ü"} 1\n'
    response = http.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert response.text == 'a_total{name="ü"} 1\n'


def test_once_it_has_started_requests_do_not_wait_for_its_health(
    http: httpx.Client, herder: Mock
) -> None:
    herder.connectors.return_value = []
    herder.metrics_text.return_value = ""
    herder.health.return_value = ("starting", "not yet")
    assert http.get("/connectors").status_code == http.get("/metrics").status_code == 503
    herder.health.return_value = ("unhealthy", "Kafka does not answer")
    assert http.get("/connectors").status_code == http.get("/connectors").status_code == 200
    assert herder.health.call_count == 3


def _raise(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a%2D%3Eb", "a->b"),
        ("a%2Fb", "a/b"),
        ("a%20b+c", "a b+c"),
        ("%C3%BC%25", "ü%"),
        ("%2E%2E", ".."),
        ("a%3Fb%23", "a?b#"),
    ],
)
def test_names_are_decoded(http: httpx.Client, herder: Mock, path: str, name: str) -> None:
    herder.status.return_value = STATUS
    assert http.get(f"/connectors/{path}/status").status_code == 200
    herder.status.assert_called_once_with(name)


def test_trailing_slash_is_tolerated(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = []
    herder.status.return_value = STATUS
    assert http.get("/connectors/").status_code == 200
    assert http.get("/connectors/n/status/").status_code == 200


@pytest.mark.parametrize(
    ("word", "status"), [("healthy", 200), ("starting", 503), ("unhealthy", 500)]
)
def test_health(http: httpx.Client, herder: Mock, word: str, status: int) -> None:
    herder.health.return_value = (word, "so it is")
    response = http.get("/health")
    assert response.status_code == status
    assert response.json() == {"status": word, "message": "so it is"}


def test_health_that_breaks_is_unhealthy(http: httpx.Client, herder: Mock) -> None:
    herder.health.side_effect = ValueError("broken")
    response = http.get("/health")
    assert response.status_code == 500
    assert response.json()["status"] == "unhealthy"


def test_openapi_describes_every_endpoint(http: httpx.Client) -> None:
    document = http.get("/openapi.json").json()
    operations = [op for path in document["paths"].values() for op in path]
    assert len(operations) == 31
    create = document["paths"]["/connectors"]["post"]
    assert create["requestBody"]["content"]["application/json"]["schema"]["required"]
    assert "422" not in create["responses"]
    assert http.get("/docs").status_code == 404


def test_head_is_get_without_its_body(http: httpx.Client, herder: Mock) -> None:
    herder.connectors.return_value = ["a"]
    response = http.head("/connectors")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == "application/json"
    assert http.head("/nowhere").status_code == 404


@pytest.mark.parametrize("version", ["latest", "1.2", "[1.0,2.0)", "(,1.0],[1.2,)", ""])
def test_versions_of_a_plugin(http: httpx.Client, herder: Mock, version: str) -> None:
    herder.plugin_config.return_value = []
    response = http.get("/connector-plugins/p/config", params={"version": version})
    assert response.status_code == 200


@pytest.mark.parametrize("version", ["[", "[1.0", "1.0]", "[1,2,3]"])
def test_what_is_no_version(http: httpx.Client, herder: Mock, version: str) -> None:
    response = http.get("/connector-plugins/p/config", params={"version": version})
    assert response.status_code == 400
    assert response.json()["message"] == f"Invalid version specification: {version}"
    herder.plugin_config.assert_not_called()
