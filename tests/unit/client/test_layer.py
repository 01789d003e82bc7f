"""The helper functions of the base layer, against the real REST application."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.client import ConnectClient, layer
from penstock.client.layer_state import read_state, update_state
from penstock.runtime.errors import BadRequest, NotFound


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "layer.json"
    monkeypatch.setenv("PENSTOCK_LAYER_STATE", str(file))
    return file


@pytest.fixture
def deployed(client: ConnectClient) -> None:
    update_state(service=client.url.removeprefix("http://"))


def test_before_anything_is_deployed_there_is_no_service_and_no_answer() -> None:
    assert layer.get_worker_service() is None
    assert layer.list_connectors() is None
    assert layer.register_connector({"connector.class": "X"}, "c") is None


def test_what_an_upper_layer_sets_is_kept_for_the_base_layer(state: Path) -> None:
    layer.set_worker_config({"key.converter": "J", "a": 1, "b": True})
    layer.set_base_image("mine:1")
    found = read_state()
    assert found["worker_config"] == {"key.converter": "J", "a": "1", "b": "true"}
    assert found["image"] == "mine:1"
    assert state.stat().st_mode & 0o077 == 0


def test_registering_creates_and_then_updates(deployed: None, herder: Mock) -> None:
    herder.put_config.return_value = (True, {"name": "c", "config": {"a": "1"}})
    answer = layer.register_connector({"connector.class": "X", "n": 1}, "c")
    assert answer is not None
    assert answer.status_code == 201
    assert answer.json["name"] == "c"
    herder.put_config.assert_called_once_with("c", {"connector.class": "X", "n": "1"})
    herder.put_config.return_value = (False, {"name": "c", "config": {}})
    again = layer.register_connector({"connector.class": "X"}, "c")
    assert again is not None
    assert again.status_code == 200


def test_each_helper_and_its_status(deployed: None, herder: Mock) -> None:
    herder.connectors.return_value = ["c"]
    herder.status.return_value = {"name": "c", "connector": {"state": "RUNNING"}, "tasks": []}
    herder.tasks.return_value = []
    herder.restart.return_value = None
    herder.offsets.return_value = {"offsets": []}
    herder.alter_offsets.return_value = herder.reset_offsets.return_value = "done"
    entry = {"partition": {"f": "a"}, "offset": {"p": 1}}
    assert layer.list_connectors() == layer.Api_response(200, ["c"])
    assert layer.connector_status("c") == (200, herder.status.return_value)
    assert layer.list_tasks("c") == (200, [])
    assert layer.connector_restart("c") == (204, None)
    assert layer.connector_pause("c") == (202, None)
    assert layer.connector_resume("c") == (202, None)
    assert layer.connector_stop("c") == (204, None)
    assert layer.connector_offsets("c") == (200, {"offsets": []})
    assert layer.alter_connector_offsets("c", [entry]) == (200, {"message": "done"})
    assert layer.reset_connector_offsets("c") == (200, {"message": "done"})
    assert layer.unregister_connector("c") == (204, None)


def test_refusals_are_answers_too(deployed: None, herder: Mock) -> None:
    herder.status.side_effect = NotFound("No status found for connector c")
    answer = layer.connector_status("c")
    assert answer is not None
    assert (answer.status_code, answer.json["error_code"]) == (404, 404)
    herder.put_config.side_effect = BadRequest("it is wrong")
    refused = layer.register_connector({}, "c")
    assert refused is not None
    assert refused.status_code == 400


def test_a_request_that_fails_is_none() -> None:
    update_state(service="127.0.0.1:1")
    assert layer.list_connectors() is None


def test_a_sink_that_names_no_topics_gets_the_options(deployed: None, herder: Mock) -> None:
    herder.put_config.return_value = (True, {"name": "c", "config": {}})
    herder.plugins.return_value = [
        {"class": "a.b.FileStreamSinkConnector", "type": "sink"},
        {"class": "a.b.FileStreamSourceConnector", "type": "source"},
    ]
    update_state(topics=["x", "y"])
    assert layer.get_topics() == ["x", "y"]

    def sent(**config: str) -> str | None:
        layer.register_connector({key.replace("_", "."): v for key, v in config.items()}, "c")
        found: str | None = herder.put_config.call_args.args[1].get("topics")
        return found

    assert sent(connector_class="FileStreamSink") == "x,y"
    assert sent(connector_class="a.b.FileStreamSinkConnector") == "x,y"
    assert sent(connector_class="FileStreamSink", topics="own") == "own"
    assert sent(connector_class="FileStreamSink", topics_regex="o.*") is None
    assert sent(connector_class="FileStreamSource") is None
