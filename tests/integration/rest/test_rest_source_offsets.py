"""Offsets of sources over REST (KIP-875): looked at in any state, altered only while stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from topics import Topics, numbers_of
from waiting import eventually

ALTERED = "The offsets for this connector have been altered successfully"
RESET = "The offsets for this connector have been reset successfully"
BY_FRAMEWORK = (
    "The Connect framework-managed offsets for this connector have been {0} successfully. However, "
    "if this connector manages offsets externally, they will need to be manually {0} in the system "
    "that the connector uses."
)


def not_stopped(name: str) -> tuple[int, str]:
    return 400, (
        "Connectors must be in the STOPPED state before their offsets can be modified. This can be "
        "done for the specified connector by issuing a 'PUT' request to the "
        f"'/connectors/{name}/stop' endpoint"
    )


def test_a_file_source_in_every_state(
    connectors: ConnectClient, topics: Topics, reach, refused, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("a\nbb\nccc\n")
    topics.create(name)
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name}
    connectors.create(name, config)

    def at(position: int) -> list[dict[str, Any]]:
        return [{"partition": {"filename": str(file)}, "offset": {"position": position}}]

    def cannot_be_changed() -> None:
        assert connectors.offsets(name) == at(9)
        assert refused(lambda: connectors.alter_offsets(name, at(0))) == not_stopped(name)
        assert refused(lambda: connectors.reset_offsets(name)) == not_stopped(name)
        assert connectors.offsets(name) == at(9)

    eventually(lambda: connectors.offsets(name) == at(9), what="all lines")
    reach("RUNNING", "RUNNING")
    cannot_be_changed()
    connectors.pause(name)
    reach("PAUSED", "PAUSED")
    cannot_be_changed()
    connectors.stop(name)
    assert connectors.offsets(name) == at(9)

    assert connectors.alter_offsets(name, at(2)) == ALTERED
    assert connectors.offsets(name) == at(2)
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == at(9), what="the last two lines again")
    assert topics.values(name) == ["a", "bb", "ccc", "bb", "ccc"]

    connectors.stop(name)
    assert connectors.reset_offsets(name) == RESET
    assert connectors.offsets(name) == []
    assert connectors.reset_offsets(name) == RESET
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == at(9), what="all lines again")
    assert topics.values(name)[5:] == ["a", "bb", "ccc"]


def test_an_alter_touches_only_the_given_partitions(
    connectors: ConnectClient, scripted, topics: Topics, reach, name: str
) -> None:
    scripted(tasks_max=3, count=10, batch=5)

    def stands() -> dict[int, int]:
        return {e["partition"]["task"]: e["offset"]["next"] for e in connectors.offsets(name)}

    def emitted() -> list[list[int]]:
        values = topics.values(name)
        return [numbers_of(values, task) for task in range(3)]

    ten = list(range(10))
    eventually(lambda: stands() == {0: 10, 1: 10, 2: 10}, what="all numbers")
    assert emitted() == [ten, ten, ten]
    connectors.stop(name)
    changes: list[dict[str, Any]] = [
        {"partition": {"task": 1}, "offset": {"next": 4}},
        {"partition": {"task": 2}, "offset": None},
        {"partition": {"task": 7}, "offset": None},
    ]
    assert connectors.alter_offsets(name, changes) == BY_FRAMEWORK.format("altered")
    assert stands() == {0: 10, 1: 4}
    connectors.resume(name)
    eventually(lambda: stands() == {0: 10, 1: 10, 2: 10}, what="what was to be emitted again")
    assert emitted() == [ten, [*ten, 4, 5, 6, 7, 8, 9], ten + ten]

    connectors.stop(name)
    assert connectors.reset_offsets(name) == BY_FRAMEWORK.format("reset")
    assert connectors.offsets(name) == []


def test_a_failed_task_does_not_make_the_connector_stopped(
    connectors: ConnectClient, scripted, topics: Topics, reach, arrive, refused, name: str
) -> None:
    """To leave out what a task fails on: stop, alter, resume."""
    scripted(count=30, batch=10, mishap="raise", mishap_at=10)
    reach("RUNNING", "FAILED")
    past = [{"partition": {"task": 0}, "offset": {"next": 20}}]
    assert refused(lambda: connectors.alter_offsets(name, past)) == not_stopped(name)
    assert refused(lambda: connectors.reset_offsets(name)) == not_stopped(name)
    connectors.stop(name)
    before = topics.values(name)
    assert connectors.alter_offsets(name, past) == BY_FRAMEWORK.format("altered")
    connectors.resume(name)
    reach("RUNNING", "RUNNING")
    arrive(30)
    assert topics.values(name) == [*before, *(f"0:{number}" for number in range(20, 30))]


LONG = "The value for the 'position' key in the offset is expected to be a Long value"
NESTED = "Offsets may only contain primitive types as values, but field {} contains {}"
REFUSALS = [
    ({"filename": "f"}, {}, "Offset objects should either be null or contain the key 'position'"),
    ({"filename": "f"}, {"position": "nine"}, LONG),
    ({"filename": "f"}, {"position": "9"}, LONG),
    ({"filename": "f"}, {"position": 9.0}, LONG),
    ({"filename": "f"}, {"position": True}, LONG),
    ({"filename": "f"}, {"position": None}, LONG),
    ({"filename": "f"}, {"position": 2**63}, LONG),
    (
        {"filename": "f"},
        {"position": -1},
        "The value for the 'position' key in the offset should be a non-negative value",
    ),
    (None, {"position": 1}, "Partition objects cannot be null"),
    ({"file": "f"}, {"position": 1}, "Partition objects should contain the key 'filename'"),
    ({"filename": "f"}, {"position": {"n": 1}}, NESTED.format("position", "MAP")),
    ({"filename": ["f"]}, {"position": 1}, NESTED.format("filename", "ARRAY")),
]


def test_a_file_that_was_rotated_while_nothing_ran(
    connectors: ConnectClient, topics: Topics, refused, name: str, tmp_path: Path
) -> None:
    """The rest of the old one and all of the new one, although that is longer from the start."""
    file = tmp_path / "in.txt"
    file.write_text("old 0\n")
    topics.create(name)
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name}
    connectors.create(name, config)

    def at(position: int) -> list[dict[str, Any]]:
        return [{"partition": {"filename": str(file)}, "offset": {"position": position}}]

    eventually(lambda: connectors.offsets(name) == at(6), what="the old file")
    connectors.stop(name)
    with file.rename(tmp_path / "in.txt.1").open("a") as old:
        old.write("old 1\n")
    new = [f"new {number}" for number in range(10)]
    file.write_text("".join(f"{line}\n" for line in new))
    connectors.resume(name)
    eventually(lambda: connectors.offsets(name) == at(60), what="the new file")
    assert topics.values(name) == ["old 0", "old 1", *new]

    connectors.stop(name)
    status, message = refused(lambda: connectors.alter_offsets(name, at(61)))
    assert status == 400
    assert message.startswith(f"{file} has 60 bytes: position 61 is beyond its end.")
    assert connectors.offsets(name) == at(60)
    file.write_text("")
    assert connectors.alter_offsets(name, at(0)) == ALTERED


def test_what_a_file_source_refuses(
    connectors: ConnectClient, refused, name: str, tmp_path: Path
) -> None:
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "f"), "topic": name}
    connectors.create(name, config, "STOPPED")
    right = {"partition": {"filename": str(tmp_path / "f")}, "offset": {"position": 3}}
    connectors.alter_offsets(name, [right])
    for partition, offset, text in REFUSALS:
        wrong = {"partition": partition, "offset": offset}
        zero = {**right, "offset": {"position": 0}}
        answer = refused(lambda: connectors.alter_offsets(name, [zero, wrong]))  # noqa: B023 (called at once)
        assert answer == (500, text)
    assert connectors.offsets(name) == [right], "nothing of a refused request may be done"

    garbage = {"partition": {"whatever": 1}, "offset": None}
    assert connectors.alter_offsets(name, [garbage]) == ALTERED
    assert connectors.alter_offsets(name, [{"partition": None, "offset": None}]) == ALTERED
    assert connectors.offsets(name) == [right]


def test_the_hook_of_a_connector(
    connectors: ConnectClient, worker: Worker, refused, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may refuse for good, and it may break: nothing is changed, and the user is told why."""

    def never(*_: object) -> bool:
        raise NotImplementedError

    def broken(*_: object) -> bool:
        raise ValueError("the source has no such place")

    connectors.create(name, {"connector.class": "ScriptedSource", "topic": name}, "STOPPED")
    plugin = worker.plugins.connector("ScriptedSource").cls
    some = [{"partition": {"task": 0}, "offset": {"next": 1}}]
    monkeypatch.setattr(plugin, "alter_offsets", never)
    text = (
        f"Failed to modify offsets for connector {name} because it doesn't support external "
        "modification of offsets"
    )
    assert refused(lambda: connectors.alter_offsets(name, some)) == (500, text)
    assert refused(lambda: connectors.reset_offsets(name)) == (500, text)
    monkeypatch.setattr(plugin, "alter_offsets", broken)
    status, text = refused(lambda: connectors.alter_offsets(name, some))
    assert status == 500
    assert "the source has no such place" in text
    assert connectors.offsets(name) == []


def test_offsets_of_nobody(client: ConnectClient, refused) -> None:
    some = [{"partition": {"task": 0}, "offset": {"next": 1}}]
    unknown = (404, "Connector nobody not found")
    assert refused(lambda: client.offsets("nobody")) == unknown
    assert refused(lambda: client.alter_offsets("nobody", some)) == unknown
    assert refused(lambda: client.reset_offsets("nobody")) == unknown


@pytest.mark.parametrize("body", ["{}", "null", '{"offsets":null}', '{"offsets":[]}'])
def test_no_offsets_in_the_request(http: httpx.Client, body: str) -> None:
    """Said before it is looked whether there is such a connector."""
    answer = http.patch(
        "/connectors/nobody/offsets", content=body, headers={"content-type": "application/json"}
    )
    text = "Partitions / offsets need to be provided for an alter offsets request"
    assert answer.json() == {"error_code": 400, "message": text}


MALFORMED = [
    ('{"offsets":[{"partition":', "Unexpected end-of-input"),
    ("{offsets}", "Unexpected character"),
    ("offsets", "Unrecognized token"),
    ('{"offset":[]}', "Unrecognized field"),
    ('{"offsets":[{"partition":{},"offsets":{}}]}', "Unrecognized field"),
    ('{"offsets":"all"}', "Cannot deserialize value"),
    ('{"offsets":[{"partition":[],"offset":{}}]}', "Cannot deserialize value"),
]


def test_malformed_requests(http: httpx.Client, connectors: ConnectClient, name: str) -> None:
    connectors.create(name, {"connector.class": "ScriptedSource", "topic": name}, "STOPPED")
    for body, fragment in MALFORMED:
        answer = http.patch(
            f"/connectors/{name}/offsets",
            content=body,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 500
        assert answer.json()["error_code"] == 500
        assert fragment in answer.json()["message"]
    assert connectors.offsets(name) == []


def test_kept_numbers(connectors: ConnectClient, name: str) -> None:
    """Integers keep 64 bits, texts their letters, and types are not mixed up."""
    connectors.create(name, {"connector.class": "ScriptedSource", "topic": name}, "STOPPED")
    given: list[dict[str, Any]] = [
        {"partition": {"task": 0}, "offset": {"next": 2**63 - 1, "done": False}},
        {"partition": {"task": "0"}, "offset": {"next": -1, "ratio": 0.5}},
        {"partition": {"task": "ä/\u2028", "of": None}, "offset": {"next": "süß"}},
    ]
    connectors.alter_offsets(name, given)
    found = connectors.offsets(name)
    assert sorted(map(repr, found)) == sorted(map(repr, given))
