"""One round over a KafkaConnectorOffsets: once per generation, whatever cuts it off."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock, create_autospec

import pytest

from penstock.client import ConnectApiError, ConnectClient, WorkerUnreachable
from penstock.operator.home import Options
from penstock.operator.offsets import OffsetsRound
from resource_home import MemoryHome

ENTRY = {"partition": '{"f":"a"}', "offset": '{"p": 7}'}
BODY = '{"offsets":[{"partition":{"f":"a"},"offset":{"p": 7}}]}'
NOT_STOPPED = "Connectors must be in the STOPPED state before their offsets can be modified."
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def home() -> MemoryHome:
    meta = {"name": "o", "namespace": "ns", "generation": 1}
    spec = {"connectorName": "c", "sourceOffsets": [ENTRY]}
    return MemoryHome({"metadata": meta, "spec": spec})


@pytest.fixture
def client() -> Mock:
    made: Mock = create_autospec(ConnectClient, instance=True)
    made.alter_offsets_text.return_value = "altered"
    made.status.return_value = {"connector": {"state": "STOPPED"}, "tasks": []}
    made.offsets_text.return_value = '{"offsets":[]}'
    return made


def play(home: MemoryHome, client: Mock, minutes: float = 0, **options: Any) -> bool:
    now = NOW + timedelta(minutes=minutes)
    resource = copy.deepcopy(home.resource)
    return OffsetsRound(resource, home, Options(now=lambda: now, **options)).run(client)


def test_texts_are_sent_as_they_are_and_once(home: MemoryHome, client: Mock) -> None:
    assert play(home, client)
    assert play(home, client)
    client.alter_offsets_text.assert_called_once_with("c", BODY)
    assert home.condition("Ready")["status"] == "True"
    assert "applying" not in home.resource["status"]


def test_an_edit_is_applied_again(home: MemoryHome, client: Mock) -> None:
    play(home, client)
    home.resource["metadata"]["generation"] = 2
    play(home, client)
    assert client.alter_offsets_text.call_count == 2


def test_it_is_written_down_before_the_request(home: MemoryHome, client: Mock) -> None:
    def look(*_: Any) -> str:
        assert home.resource["status"]["applying"]["generation"] == 1
        return "altered"

    client.alter_offsets_text.side_effect = look
    assert play(home, client)


def cut_off(home: MemoryHome, client: Mock) -> None:
    client.alter_offsets_text.side_effect = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        play(home, client)
    client.alter_offsets_text.side_effect = None
    client.alter_offsets_text.reset_mock()


def test_after_a_cut_what_is_there_already_is_not_sent_again(
    home: MemoryHome, client: Mock
) -> None:
    cut_off(home, client)
    client.offsets_text.return_value = BODY
    assert play(home, client)
    client.alter_offsets_text.assert_not_called()
    assert home.condition("Ready")["status"] == "True"


def test_after_a_cut_what_is_missing_is_sent(home: MemoryHome, client: Mock) -> None:
    cut_off(home, client)
    assert play(home, client)
    client.alter_offsets_text.assert_called_once_with("c", BODY)


def test_after_a_cut_a_connector_that_runs_is_not_set_back(home: MemoryHome, client: Mock) -> None:
    cut_off(home, client)
    client.status.return_value = {"connector": {"state": "RUNNING"}, "tasks": []}
    assert play(home, client)
    assert play(home, client)
    client.alter_offsets_text.assert_not_called()
    assert "not known" in home.condition("Ready")["message"]


def test_a_lost_answer_is_a_cut(home: MemoryHome, client: Mock) -> None:
    client.alter_offsets_text.side_effect = WorkerUnreachable("http://x", "it took too long")
    assert not play(home, client)
    client.offsets_text.return_value = BODY
    assert play(home, client)
    assert client.alter_offsets_text.call_count == 1


def test_a_refusal_is_told_with_its_text_and_tried_again_for_a_while(
    home: MemoryHome, client: Mock
) -> None:
    client.alter_offsets_text.side_effect = ConnectApiError(400, NOT_STOPPED)
    assert not play(home, client)
    assert home.condition("Ready")["status"] == "False"
    assert NOT_STOPPED in home.condition("NotReady")["message"]
    assert not play(home, client, 9)
    client.alter_offsets_text.side_effect = None
    assert play(home, client, 9.5)
    assert home.condition("Ready")["status"] == "True"


def test_after_that_while_it_is_over(home: MemoryHome, client: Mock) -> None:
    client.alter_offsets_text.side_effect = ConnectApiError(400, NOT_STOPPED)
    assert not play(home, client)
    assert play(home, client, 11)
    client.alter_offsets_text.reset_mock(side_effect=True)
    assert play(home, client, 12)
    client.alter_offsets_text.assert_not_called()
    assert "edit the resource" in home.condition("Ready")["message"]


def test_a_refusal_that_time_does_not_mend_is_final(home: MemoryHome, client: Mock) -> None:
    client.alter_offsets_text.side_effect = ConnectApiError(500, "no such file")
    assert play(home, client)
    assert home.condition("Ready")["message"] == "no such file"


@pytest.mark.parametrize("status", [404, 405])
def test_a_connect_that_is_too_old_is_named(home: MemoryHome, client: Mock, status: int) -> None:
    client.root.return_value = {"version": "3.5.0"}
    client.alter_offsets_text.side_effect = ConnectApiError(status, f"HTTP {status} whatever")
    assert play(home, client)
    message = home.condition("Ready")["message"]
    assert "(version 3.5.0) is too old to alter offsets" in message
    assert "3.6 or newer" in message
