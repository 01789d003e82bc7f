"""Bad input: every mistake is answered with what is wrong, and never with a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually

JSON = {"content-type": "application/json"}
INVALID = (
    "Connector configuration is invalid and contains the following {0} error(s):\n{1}\n"
    "You can also find the above list of errors at the endpoint "
    "`/connector-plugins/{{connectorType}}/config/validate`"
)


def test_an_unknown_class(client: ConnectClient, refused, name: str) -> None:
    wanted = "Failed to find any class that implements Connector and which name matches NoSuch, "
    for call in (
        lambda: client.create(name, {"connector.class": "NoSuch"}),
        lambda: client.put_config(name, {"connector.class": "NoSuch"}),
    ):
        status, text = refused(call)
        assert status == 400
        assert text.startswith(wanted + "available connectors are: ")
        assert "FileStreamSourceConnector" in text
    assert name not in client.connectors()


def test_no_class(client: ConnectClient, refused, name: str) -> None:
    wanted = (400, "Connector config contains no connector type")
    assert refused(lambda: client.create(name, {"topic": "t"})) == wanted
    assert refused(lambda: client.create(name, {"connector.class": " "})) == wanted


MISSING = 'Missing required configuration "{}" which has no default value.'


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({"connector.class": "ScriptedSource"}, [MISSING.format("topic")]),
        (
            {"connector.class": "ScriptedSource", "tasks.max": "dog"},
            [
                "Invalid value dog for configuration tasks.max: Not a number of type INT",
                MISSING.format("topic"),
            ],
        ),
        (
            {"connector.class": "ScriptedSource", "topic": "t", "tasks.max": 0},
            ["Invalid value 0 for configuration tasks.max: Value must be at least 1"],
        ),
        (
            {"connector.class": "ScriptedSource", "topic": "t", "blind": "perhaps"},
            [
                "Invalid value perhaps for configuration blind: "
                "Expected value to be either true or false"
            ],
        ),
        (
            {"connector.class": "ScriptedSource", "topic": "t", "errors.tolerance": "some"},
            [
                "Invalid value some for configuration errors.tolerance: "
                "String must be one of: none, all"
            ],
        ),
        (
            {"connector.class": "ScriptedSource", "topic": "t", "value.converter": "Nope"},
            [
                "Invalid value Nope for configuration value.converter: "
                "Class Nope could not be found."
            ],
        ),
        (
            {"connector.class": "ScriptedSource", "topic": "t", "transforms": "a"},
            [MISSING.format("transforms.a.type")],
        ),
        (
            {"connector.class": "CollectingSink", "out": "/tmp"},  # noqa: S108 (never written)
            ["Must configure one of topics or topics.regex"] * 2,
        ),
        (
            {
                "connector.class": "CollectingSink",
                "out": "/tmp",  # noqa: S108 (never written)
                "topics": "t",
                "topics.regex": "u",
            },
            ["topics and topics.regex are mutually exclusive options, but both are set."] * 2,
        ),
    ],
)
def test_invalid_configs(
    client: ConnectClient, refused, name: str, config: dict[str, str], errors: list[str]
) -> None:
    wanted = (400, INVALID.format(len(errors), "\n".join(errors)))
    assert refused(lambda: client.create(name, config)) == wanted
    assert refused(lambda: client.put_config(name, config)) == wanted
    assert name not in client.connectors()
    checked = client.validate(config["connector.class"], {**config, "name": name})
    found = [text for entry in checked["configs"] for text in entry["value"]["errors"]]
    assert (checked["error_count"], found) == (len(errors), errors)


def test_a_file_connector_without_a_file(client: ConnectClient, refused, name: str) -> None:
    source = {"connector.class": "FileStreamSource", "topic": "t"}
    sink = {"connector.class": "FileStreamSink", "topics": "t"}
    for config in (source, sink):
        status, text = refused(lambda: client.create(name, config))  # noqa: B023 (called at once)
        assert status == 400
        assert 'Missing required configuration "file": set it to the path' in text


def test_a_change_to_an_invalid_config_acceptable(
    connectors: ConnectClient, scripted, refused, name: str
) -> None:
    scripted("STOPPED")
    before = connectors.config(name)
    assert refused(lambda: connectors.patch_config(name, {"topic": None}))[0] == 400
    assert refused(lambda: connectors.put_config(name, {**before, "batch": "x"}))[0] == 400
    assert refused(lambda: connectors.put_config(name, {**before, "name": "other"})) == (
        400,
        f"Connector name configuration (other) doesn't match connector name in the URL ({name})",
    )
    assert connectors.config(name) == before


@pytest.mark.parametrize(
    ("body", "fragment"),
    [
        ('{"name": "n", "config": {', "Unexpected end-of-input"),
        ("{'name': 'n'}", "Unexpected character"),
        ("name", "Unrecognized token"),
        ('{"name": "n", "configuration": {}}', "Unrecognized field"),
        ('{"name": "n", "config": {"topic": {"is": "t"}}}', "Cannot deserialize value"),
        ('{"name": "n", "config": "topic=t"}', "Cannot construct instance"),
        ('{"name": "n", "config": {}, "initial_state": "HAPPY"}', "Cannot construct instance"),
    ],
)
def test_malformed_json(http: httpx.Client, body: str, fragment: str) -> None:
    answer = http.post("/connectors", content=body, headers=JSON)
    assert answer.status_code == 500
    assert answer.json()["error_code"] == 500
    assert fragment in answer.json()["message"]
    assert "Traceback" not in answer.text


def test_a_folder_where_a_file_should_be(
    connectors: ConnectClient, topics: Topics, reach, name: str, tmp_path: Path
) -> None:
    """The task fails with a sentence; once there is a file, a restart of the task is enough."""
    topics.create(name)
    place = tmp_path / "place"
    place.mkdir()
    config = {"connector.class": "FileStreamSource", "file": str(place), "topic": name}
    connectors.create(name, config)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    text = f"{place} is not a regular file. Set 'file' to the path of a file."
    assert trace == f"UserError: {text}"
    place.rmdir()
    place.write_text("now a file\n")
    connectors.restart_task(name, 0)
    reach("RUNNING", "RUNNING")
    eventually(lambda: topics.values(name) == ["now a file"], what="the line")


def test_a_folder_where_a_sink_should_write(
    connectors: ConnectClient, topics: Topics, reach, name: str, tmp_path: Path
) -> None:
    topics.create(name)
    topics.produce(name, [b"kept until it can be written"])
    out = tmp_path / "missing" / "out.txt"
    config = {"connector.class": "FileStreamSink", "file": str(out), "topics": name}
    connectors.create(name, config)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert trace.startswith(
        f"UserError: Cannot write {out}: the folder {out.parent} does not exist"
    )
    assert "Traceback" not in trace
    out.parent.mkdir()
    connectors.restart_task(name, 0)
    reach("RUNNING", "RUNNING")
    eventually(lambda: out.exists() and out.read_text(), what="the line")
    assert out.read_text() == "kept until it can be written\n"


def test_deep_json_is_no_harm(http: httpx.Client) -> None:
    answer = http.post("/connectors", content="[" * 100_000, headers=JSON)
    assert answer.status_code == 400
    assert json.loads(answer.text)["error_code"] == 400
