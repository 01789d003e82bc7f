"""Several names and patterns in one command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock, call

import pytest

from penstock.cli.names import chosen
from penstock.sdk.errors import UserError

Run = Callable[..., Any]
KNOWN = ["a-1", "a-2", "b", "odd[1]"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["b", "unknown", "b"], ["b", "unknown"]),
        (["a-*"], ["a-1", "a-2"]),
        (["b", "a-?", "a-1"], ["b", "a-1", "a-2"]),
        (["odd[1]"], ["odd[1]"]),
    ],
)
def test_what_is_meant(given: list[str], meant: list[str]) -> None:
    assert chosen(given, lambda: KNOWN, "connector") == meant


def test_plain_names_need_no_list() -> None:
    assert chosen(["b"], Mock(side_effect=AssertionError), "connector") == ["b"]


def test_a_pattern_that_matches_nothing() -> None:
    with pytest.raises(UserError, match=r"No connector matches 'x\*'. Known: a-1, a-2, b"):
        chosen(["x*"], lambda: KNOWN, "connector")


@pytest.fixture
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Mock:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = KNOWN
    herder.put_config.return_value = (False, {"config": {}})
    herder.validate.return_value = {"configs": []}
    return herder


def test_a_verb_for_many(run: Run, worker: Mock) -> None:
    result = run("pause", "connector", "a-*", "b", "--wait", "0")
    assert worker.pause.call_args_list == [call("a-1"), call("a-2"), call("b")]
    assert result.out.splitlines()[0] == "Connector a-1 will be PAUSED."


def test_delete_asks_nobody_in_a_script(run: Run, worker: Mock) -> None:
    assert run("delete", "connector", "a-*").out.count("deleted") == 2
    assert worker.delete.call_args_list == [call("a-1"), call("a-2")]


def test_delete_asks_on_a_terminal(run: Run, worker: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.cli.asking.on_a_terminal", lambda: True)
    asked = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("typer.confirm", asked)
    worker.reset_offsets.return_value = "done"
    for command in (("connector", "b"), ("offsets", "b")):
        assert run("delete", *command).code == 130
        assert run("delete", *command, "--yes").code == 0
    assert [each.args[0] for each in asked.call_args_list] == [
        "Delete b?",
        "Delete the offsets of b?",
    ]


def test_one_key_is_changed(run: Run, worker: Mock) -> None:
    worker.patch_config.return_value = {"config": {"tasks.max": "2", "connector.class": "C"}}
    result = run("patch", "connector", "a-*", "tasks.max=2", "file=/a=b", "--remove", "topic")
    assert result.out == "Connector a-1 updated.\nConnector a-2 updated.\n"
    changes = {"tasks.max": "2", "file": "/a=b", "topic": None}
    assert worker.patch_config.call_args_list == [call("a-1", changes), call("a-2", changes)]


@pytest.mark.parametrize("args", [("b",), ("tasks.max=2",), ("b", "=2")])
def test_a_change_needs_a_connector_and_a_key(run: Run, worker: Mock, args: tuple[str]) -> None:
    assert run("patch", "connector", *args).code == 2
    worker.patch_config.assert_not_called()


def test_a_key_that_was_mistyped(run: Run, worker: Mock) -> None:
    def described(name: str) -> dict[str, Any]:
        return {"definition": {"name": name}, "value": {"name": name, "value": None, "errors": []}}

    worker.validate.return_value = {"configs": [described("tasks.max"), described("topic")]}
    worker.patch_config.return_value = {"config": {"task.max": "2", "connector.class": "x.Source"}}
    result = run("patch", "connector", "b", "task.max=2")
    assert result.code == 0
    assert "task.max is not a key of Source and was ignored: did you mean tasks.max?" in result.err
