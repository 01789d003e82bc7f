"""`penstock config`: clusters by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli.discovery import credentials_for, find_bootstrap_servers, find_url

Run = Callable[..., Any]


def contexts(run: Run) -> dict[str, Any]:
    return {each["name"]: each for each in json.loads(run("config", "list", "-o", "json").out)}


def test_commands_talk_to_the_context_in_use(run: Run, herder: Mock, url: str) -> None:
    herder.connectors.return_value = []
    assert run("config", "set", "here", "--url", url).out == "Using context here.\n"
    assert run("get", "connectors").code == 0
    herder.connectors.assert_called()
    assert run("config", "use", "none").out == "Using no context.\n"
    assert "No worker found" in run("get", "connectors").err


def test_an_option_and_the_environment_come_first(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("config", "set", "a", "--url", "http://127.0.0.1:1", "--bootstrap-servers", "a:9092")
    assert (find_url(None), find_bootstrap_servers(None)) == ("http://127.0.0.1:1", "a:9092")
    assert find_url("http://127.0.0.1:2") == "http://127.0.0.1:2"
    monkeypatch.setenv("PENSTOCK_URL", "http://127.0.0.1:3")
    assert "http://127.0.0.1:3" in run("get", "connectors").err


def test_a_token_is_kept_in_its_file_and_sent_to_its_context_only(run: Run, home: Path) -> None:
    (home / "token").write_text("ann.secret\n")
    run("config", "set", "far", "--url", "https://far:8083", "--token-file", str(home / "token"))
    assert credentials_for("https://far:8083").token == "ann.secret"
    assert credentials_for("https://near:8083").token == ""
    assert "secret" not in run("config", "list", "-o", "json").out
    (home / "token").unlink()
    run("config", "use", "far")
    assert "Cannot read the token" in run("get", "connectors").err


def test_contexts_are_changed_listed_and_deleted(run: Run) -> None:
    assert run("config", "set", "a").code == 2
    run("config", "set", "a", "--url", "http://a:8083")
    run("config", "set", "b", "--url", "http://b:8083")
    run("config", "set", "a", "--bootstrap-servers", "a:9092")
    found = contexts(run)
    assert found["a"]["url"] == "http://a:8083"
    assert (found["a"]["bootstrap_servers"], found["a"]["current"]) == ("a:9092", True)
    assert run("config", "list").out.splitlines()[1].split("\t")[:2] == ["*", "a"]
    assert run("config", "use", "b").code == 0
    assert run("config", "delete", "b").out == "Context b deleted.\n"
    assert list(contexts(run)) == ["a"]
    assert not contexts(run)["a"]["current"]
    for command in (("use", "b"), ("delete", "b")):
        result = run("config", *command)
        assert (result.code, "penstock config list" in result.err) == (1, True)


def test_what_commands_talk_to_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("config", "set", "a", "--url", "http://a:8083", "--bootstrap-servers", "a:9092")
    assert run("config", "show").out == "url: http://a:8083\nbootstrap-servers: a:9092\n"
    assert run("config", "show", "bootstrap-servers").out == "a:9092\n"
    monkeypatch.setenv("PENSTOCK_URL", "http://b:8083")
    assert run("config", "show", "url").out == "http://b:8083\n"
