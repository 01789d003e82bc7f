"""One round over a KafkaConnector: which requests are made, and what is told."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock, create_autospec

import pytest

from penstock.client import ConnectApiError, ConnectClient, WorkerUnreachable
from penstock.operator.connector import ConnectorRound
from penstock.operator.desired import desired_config
from penstock.operator.home import Options
from penstock.operator.names import CONNECTOR_OFFSETS, PAUSE, RESET, RESTART, RESTART_TASK
from resource_home import MemoryHome

NAME = "c"
SPEC: dict[str, Any] = {"class": "File", "tasksMax": 1, "config": {"file": "/f"}}
STATES = {"running": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}


def home_of(spec: dict[str, Any], **annotations: str) -> MemoryHome:
    keys = {key.replace("_", "/", 1).replace("_", "-"): value for key, value in annotations.items()}
    meta = {"name": NAME, "namespace": "ns", "generation": 1, "annotations": keys}
    return MemoryHome({"metadata": meta, "spec": {**SPEC, **spec}})


def annotated(spec: dict[str, Any], annotations: dict[str, str]) -> MemoryHome:
    home = home_of(spec)
    home.resource["metadata"]["annotations"] = dict(annotations)
    return home


def status_in(state: str, *tasks: str) -> dict[str, Any]:
    parts = [{"id": number, "state": task} for number, task in enumerate(tasks)]
    return {"name": NAME, "connector": {"state": state}, "tasks": parts, "type": "source"}


@pytest.fixture
def client() -> Mock:
    """Of a worker on which the connector is as the spec says, and runs."""
    made: Mock = create_autospec(ConnectClient, instance=True)
    made.info.return_value = {"config": desired_config(NAME, SPEC), "type": "source"}
    made.status.return_value = status_in("RUNNING", "RUNNING")
    made.topics.return_value = ["b", "a"]
    made.offsets_text.return_value = '{"offsets":[{"partition":{"f":"x"},"offset":{"p":1}}]}'
    return made


def play(home: MemoryHome, client: Mock, **options: Any) -> bool:
    return ConnectorRound(home.resource, home, Options(stop_seconds=0, **options)).run(client)


def changes(client: Mock) -> list[str]:
    looking = ("info", "status", "topics", "offsets_text", "root")
    return [call[0] for call in client.method_calls if call[0] not in looking]


def test_a_connector_that_is_as_wanted_is_told_and_left_alone(client: Mock) -> None:
    home = home_of({})
    assert play(home, client)
    assert changes(client) == []
    assert home.condition("Ready")["status"] == "True"
    status = home.resource["status"]
    assert (status["topics"], status["tasksMax"]) == (["a", "b"], 1)
    client.offsets_text.assert_not_called()


def test_a_second_round_writes_nothing(client: Mock) -> None:
    home = home_of({})
    play(home, client)
    play(home, client)
    assert len(home.statuses) == 1


def test_one_that_is_missing_is_created(client: Mock) -> None:
    client.info.side_effect = ConnectApiError(404, "Connector c not found")
    play(home_of({}), client)
    client.put_config.assert_called_once_with(NAME, desired_config(NAME, SPEC))
    client.create.assert_not_called()


def test_one_that_should_be_stopped_never_runs(client: Mock) -> None:
    client.info.side_effect = ConnectApiError(404, "Connector c not found")
    client.status.return_value = status_in("STOPPED")
    play(home_of({"state": "stopped"}), client)
    client.create.assert_called_once_with(NAME, desired_config(NAME, SPEC), initial_state="STOPPED")
    client.put_config.assert_not_called()


def test_a_worker_that_knows_no_initial_state_is_asked_in_two_steps(client: Mock) -> None:
    client.info.side_effect = ConnectApiError(404, "Connector c not found")
    client.create.side_effect = ConnectApiError(500, 'Unrecognized field "initial_state"')
    play(home_of({"state": "stopped"}), client)
    assert changes(client) == ["create", "put_config", "stop"]


def test_a_config_changed_over_rest_is_set_back_and_told_of(client: Mock) -> None:
    home = home_of({})
    play(home, client)
    client.info.return_value = {"config": {"name": NAME, "file": "/other"}, "type": "source"}
    play(home, client)
    client.put_config.assert_called_once_with(NAME, desired_config(NAME, SPEC))
    assert "DriftCorrected" in [reason for _, reason, _ in home.told]


def test_a_failed_connector_is_told_of_and_not_paused(client: Mock) -> None:
    client.status.return_value = status_in("FAILED")
    home = home_of({"state": "paused"})
    assert not play(home, client)
    assert changes(client) == []
    assert "Connector has failed" in home.condition("NotReady")["message"]
    assert "cannot be paused" in home.condition("Warning")["message"]


def test_failed_tasks_are_named(client: Mock) -> None:
    client.status.return_value = status_in("RUNNING", "FAILED", "RUNNING", "FAILED")
    home = home_of({})
    play(home, client)
    assert "tasks have failed: 0, 2" in home.condition("NotReady")["message"]
    assert home.condition("Ready")["status"] == "False"


def test_what_has_failed_is_restarted_if_that_is_wanted(client: Mock) -> None:
    client.status.return_value = status_in("RUNNING", "FAILED")
    now = datetime(2026, 1, 1, tzinfo=UTC)
    home = home_of({"autoRestart": {"enabled": True}})
    for minutes in (0, 1, 2, 3):
        moment = now + timedelta(minutes=minutes)
        play(home, client, now=lambda moment=moment: moment)
    assert client.restart.call_count == 2
    client.restart.assert_called_with(NAME, include_tasks=True, only_failed=True)
    assert home.resource["status"]["autoRestart"]["count"] == 2


def test_a_reset_of_a_resource_that_is_not_stopped_makes_no_request(client: Mock) -> None:
    home = annotated({}, {RESET: "true"})
    play(home, client)
    client.reset_offsets.assert_not_called()
    assert home.annotations == {}
    assert "not stopped" in home.condition(RESET)["message"]


def test_stop_and_reset_come_in_that_order(client: Mock) -> None:
    home = annotated({"state": "stopped"}, {RESET: "true"})
    states = [status_in("RUNNING", "RUNNING"), status_in("STOPPED"), status_in("STOPPED")]
    client.status.side_effect = states
    play(home, client)
    assert changes(client) == ["stop", "reset_offsets"]
    assert home.annotations == {}
    assert home.condition(RESET) == {}


def test_a_reset_that_is_refused_is_told_and_kept_until_the_next_edit(client: Mock) -> None:
    client.status.return_value = status_in("STOPPED")
    client.reset_offsets.side_effect = ConnectApiError(500, "it does not want to")
    home = annotated({"state": "stopped"}, {RESET: "true"})
    play(home, client)
    assert "it does not want to" in home.condition(RESET)["message"]
    assert home.annotations == {}
    play(home, client)
    assert home.condition(RESET)
    home.resource["metadata"]["generation"] = 2
    play(home, client)
    assert not home.condition(RESET)


@pytest.mark.parametrize(
    "answer", [(404, "HTTP 404 Not Found"), (405, "HTTP 405 Method Not Allowed")]
)
def test_a_connect_that_is_too_old_is_named(client: Mock, answer: tuple[int, str]) -> None:
    client.root.return_value = {"version": "3.4.1"}
    client.status.return_value = status_in("STOPPED")
    client.reset_offsets.side_effect = ConnectApiError(*answer)
    client.offsets_text.side_effect = ConnectApiError(*answer)
    home = annotated({"state": "stopped", "showOffsets": True}, {RESET: "true"})
    play(home, client)
    assert "(version 3.4.1) is too old to reset offsets" in home.condition(RESET)["message"]
    assert "too old to show offsets" in home.condition("Warning")["message"]
    assert home.condition("Ready")["status"] == "True"


def test_a_worker_that_cannot_be_reached_fails_a_reset_too(client: Mock) -> None:
    client.info.side_effect = WorkerUnreachable("http://x", "refused")
    home = annotated({"state": "stopped"}, {RESET: "true"})
    assert not play(home, client)
    assert "No answer from the Connect cluster at http://x" in home.condition(RESET)["message"]
    assert "penstock up" not in home.condition("NotReady")["message"]
    assert not play(home, client)
    assert "No answer" in home.condition(RESET)["message"], "the next round fails as early"


def test_offsets_are_shown_and_stay_when_that_is_switched_off(client: Mock) -> None:
    home = home_of({"showOffsets": True})
    play(home, client)
    shown = home.resource["status"]["connectorOffsets"]
    assert shown["source"] == [{"partition": '{"f":"x"}', "offset": '{"p":1}'}]
    home.resource["spec"]["showOffsets"] = False
    play(home, client)
    assert home.resource["status"]["connectorOffsets"] == shown
    assert client.offsets_text.call_count == 1


def test_a_connector_that_has_changed_its_kind_shows_only_the_new_one(client: Mock) -> None:
    home = home_of({"showOffsets": True})
    play(home, client)
    client.info.return_value["type"] = "sink"
    client.offsets_text.return_value = '{"offsets":[]}'
    play(home, client)
    shown = home.resource["status"]["connectorOffsets"]
    assert shown["sink"] == []
    assert "source" not in shown


def test_restart_annotations_go_when_done_and_stay_when_refused(client: Mock) -> None:
    home = annotated({}, {RESTART: "includeTasks,onlyFailed", RESTART_TASK: "7"})
    client.restart_task.side_effect = ConnectApiError(404, "Unknown task: c-7")
    play(home, client)
    client.restart.assert_called_once_with(NAME, include_tasks=True, only_failed=True)
    assert home.annotations == {RESTART_TASK: "7"}
    assert home.condition("Warning")["reason"] == "RestartConnectorTask"


def test_nothing_is_asked_while_reconciliation_is_paused(client: Mock) -> None:
    home = annotated({"state": "stopped"}, {PAUSE: "true", RESET: "true"})
    assert play(home, client)
    assert client.method_calls == []
    assert home.condition("ReconciliationPaused")
    assert RESET in home.annotations


def test_strimzis_way_is_off_unless_switched_on(client: Mock) -> None:
    home = annotated({"listOffsets": {"toConfigMap": {"name": "m"}}}, {CONNECTOR_OFFSETS: "list"})
    play(home, client)
    assert home.maps == {}
    assert "--strimzi-offsets" in home.condition("Warning")["message"]
    play(home, client, strimzi_offsets=True)
    assert '"offsets"' in home.maps["m"]["offsets.json"]
    assert home.annotations == {}


@pytest.mark.parametrize(
    ("spec", "action", "data", "words"),
    [
        ({}, "list", None, "missing property listOffsets"),
        ({}, "alter", None, "missing property alterOffsets"),
        ({}, "dance", None, "none of list, alter and reset"),
        ({"alterOffsets": {"fromConfigMap": {"name": "m"}}}, "alter", None, "ns/m does not exist"),
        (
            {"alterOffsets": {"fromConfigMap": {"name": "m"}}},
            "alter",
            {},
            "offsets.json is missing",
        ),
        (
            {"alterOffsets": {"fromConfigMap": {"name": "m"}}},
            "alter",
            {"offsets.json": "{"},
            "Failed to parse contents",
        ),
        ({}, "reset", None, "not in STOPPED state"),
    ],
)
def test_strimzis_way_stays_annotated_when_it_fails(
    client: Mock, spec: dict, action: str, data: dict | None, words: str
) -> None:
    home = annotated(spec, {CONNECTOR_OFFSETS: action})
    if data is not None:
        home.maps["m"] = data
    play(home, client, strimzi_offsets=True)
    assert words in home.condition("Warning")["message"]
    assert home.annotations == {CONNECTOR_OFFSETS: action}
    assert changes(client) == []


def test_two_ways_at_once_do_nothing(client: Mock) -> None:
    client.status.return_value = status_in("STOPPED")
    both = {CONNECTOR_OFFSETS: "reset", RESET: "true"}
    home = annotated({"state": "stopped"}, both)
    play(home, client, strimzi_offsets=True)
    assert changes(client) == []
    assert home.annotations == both
    assert home.condition("Warning")["reason"] == "ManageOffsets"


def test_values_that_no_worker_takes_are_told(client: Mock) -> None:
    home = home_of({"config": {"file": ["/f"]}})
    assert play(home, client)
    assert "spec.config: file" in home.condition("NotReady")["message"]
    assert client.method_calls == []
