"""The audit: a line for every change, with who, what and how it ended, and never a secret."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any
from unittest.mock import Mock, create_autospec

import httpx
import pytest

from audit_lines import audit_lines
from config_herder import config_herder
from penstock.rest import create_app
from penstock.rest.access import audit
from penstock.rest.access.audited_herder import AuditedHerder
from penstock.rest.access.herder_proxy import HerderProxy
from penstock.rest.herder_api import HerderApi, OwnApi
from penstock.runtime.errors import BadRequest
from penstock.sdk.config import HIDDEN
from served_app import serving

SECRET = "hunter2-and-more"
CONFIG = {"connector.class": "ScriptedSource", "topic": "t", "password": SECRET}
AT_5 = {"partition": {"filename": "f"}, "offset": {"position": 5}}
AT_7 = {"partition": {"filename": "f"}, "offset": {"position": 7}}
OTHER = {"partition": {"filename": "g"}, "offset": {"position": 1}}
Lines = Callable[[], list[dict[str, Any]]]

CALLS = {name for name in (*vars(OwnApi), *vars(HerderApi)) if not name.startswith("_")}
LOOKS = {
    "metrics",
    "metrics_text",
    "plan",
    "root",
    "health",
    "loggers",
    "logger",
    "connectors",
    "info",
    "config",
    "status",
    "tasks",
    "task_status",
    "topics",
    "offsets",
    "plugins",
    "plugin_config",
    "validate",
}


@pytest.fixture
def herder() -> Mock:
    herder = config_herder(n=CONFIG)
    herder.offsets.return_value = {"offsets": [AT_5, OTHER]}
    herder.alter_offsets.return_value = herder.reset_offsets.return_value = "done so"
    herder.set_logger_level.return_value = ["root"]
    herder.restart.return_value = None
    return herder


@pytest.fixture
def http(herder: Mock) -> Iterator[httpx.Client]:
    with serving(create_app(herder)) as client:
        yield client


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    caplog.set_level(logging.INFO, "penstock.audit")

    def read() -> list[dict[str, Any]]:
        assert SECRET not in caplog.text
        return audit_lines(caplog)

    return read


def test_what_a_line_says(http: httpx.Client, lines: Lines) -> None:
    http.put("/connectors/n/pause")
    (line,) = lines()
    assert line.pop("when").endswith("Z")
    assert line == {
        "who": "anonymous",
        "from": "127.0.0.1",
        "what": "pause",
        "connector": "n",
        "outcome": "done",
    }


@pytest.mark.parametrize(
    ("method", "path", "what", "details"),
    [
        ("PUT", "/connectors/n/resume", "resume", {}),
        ("PUT", "/connectors/n/stop", "stop", {}),
        (
            "POST",
            "/connectors/n/restart?includeTasks=true",
            "restart",
            {"arguments": [True, False]},
        ),
        ("POST", "/connectors/n/tasks/3/restart", "restart task", {"arguments": [3]}),
        ("PUT", "/connectors/n/topics/reset", "reset topics", {}),
        ("DELETE", "/connectors/n", "delete", {}),
        ("DELETE", "/connectors/n/offsets", "reset offsets", {"old": [AT_5, OTHER], "new": []}),
    ],
)
def test_changes_without_a_body(
    http: httpx.Client, lines: Lines, *, method: str, path: str, what: str, details: dict[str, Any]
) -> None:
    assert http.request(method, path).is_success
    (line,) = lines()
    assert (line["what"], line["connector"], line["outcome"]) == (what, "n", "done")
    assert {key: line[key] for key in details} == details


def test_configs_are_told_by_the_keys_that_change(http: httpx.Client, lines: Lines) -> None:
    http.post("/connectors", json={"name": "m", "config": CONFIG})
    http.put("/connectors/n/config", json={**CONFIG, "topic": "u", "count": "1"})
    http.patch("/connectors/n/config", json={"count": None, "password": "another " + SECRET})
    http.put("/connectors/n/config", json={**CONFIG, "password": HIDDEN})
    told = [(line["what"], line["connector"], line["keys"]) for line in lines()]
    assert told == [
        ("create", "m", sorted(CONFIG)),
        ("put config", "n", ["count", "topic"]),
        ("patch config", "n", ["count", "password"]),
        ("put config", "n", ["topic"]),
    ]


def test_offsets_are_told_as_they_were_and_are(http: httpx.Client, lines: Lines) -> None:
    http.patch("/connectors/n/offsets", json={"offsets": [AT_7]})
    (line,) = lines()
    assert (line["what"], line["old"], line["new"]) == ("alter offsets", [AT_5], [AT_7])


def test_a_sinks_partition_may_be_given_as_text(
    http: httpx.Client, herder: Mock, lines: Lines
) -> None:
    partition = {"kafka_topic": "t", "kafka_partition": 0}
    old = {"partition": partition, "offset": {"kafka_offset": 3}}
    herder.offsets.return_value = {"offsets": [old]}
    asked = {"partition": {**partition, "kafka_partition": "0"}, "offset": None}
    http.patch("/connectors/n/offsets", json={"offsets": [asked]})
    (line,) = lines()
    assert (line["old"], line["new"]) == ([old], [asked])


def test_nobody_can_say_that_they_come_from_elsewhere(http: httpx.Client, lines: Lines) -> None:
    http.put("/connectors/n/pause", headers={"X-Forwarded-For": "192.0.2.1"})
    assert [line["from"] for line in lines()] == ["127.0.0.1"]


def test_many_offsets_make_no_endless_line(
    http: httpx.Client, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MOST_OFFSETS", 1)
    http.delete("/connectors/n/offsets")
    assert lines()[0]["old"] == [AT_5, {"left_out": 1}]


def test_levels(http: httpx.Client, lines: Lines) -> None:
    http.put("/admin/loggers/root", json={"level": "DEBUG"})
    (line,) = lines()
    assert (line["what"], line["logger"], line["level"]) == ("set logger level", "root", "DEBUG")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(BadRequest("no"), "refused: 400"), (ValueError("defect"), "failed: ValueError")],
)
def test_what_was_not_done(
    http: httpx.Client, herder: Mock, lines: Lines, error: Exception, outcome: str
) -> None:
    herder.stop.side_effect = error
    http.put("/connectors/n/stop")
    assert [line["outcome"] for line in lines()] == [outcome]


def test_what_is_refused_for_its_masks_is_told_once(http: httpx.Client, lines: Lines) -> None:
    """They are found before the herder is asked."""
    masked = {**CONFIG, "password": HIDDEN}
    answers = [
        http.post("/connectors", json={"name": "m", "config": masked}),
        http.put("/connectors/m/config", json=masked),
        http.put("/connectors/n/config", json={**masked, "vendor.url": "https://evil.example"}),
        http.patch("/connectors/n/config", json={"vendor.url": "https://evil.example"}),
        http.patch("/connectors/m/config", json={"topic": "u"}),
    ]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 400, 404]
    told = [(line["what"], line["connector"], line["keys"], line["outcome"]) for line in lines()]
    assert told == [
        ("create", "m", sorted(CONFIG), "refused: 400"),
        ("put config", "m", sorted(CONFIG), "refused: 400"),
        ("put config", "n", ["vendor.url"], "refused: 400"),
        ("patch config", "n", ["vendor.url"], "refused: 400"),
        ("patch config", "m", ["topic"], "refused: 404"),
    ]


def test_looks_are_not_told(http: httpx.Client, lines: Lines) -> None:
    http.get("/connectors/n/config")
    http.get("/connectors/n/offsets")
    assert lines() == []


def test_every_change_that_a_herder_knows_is_told() -> None:
    """A method that is new to the herder is a look, or has to be in the audit."""
    between_workers = {"verified", "forward", "do_as_told", "take_tasks"}
    changes = CALLS - LOOKS - between_workers
    audited = {name for name in vars(AuditedHerder) if not name.startswith("_")}
    assert changes == audited


def test_every_call_is_passed_on() -> None:
    """A protocol's method would answer None in its place."""
    assert vars(HerderProxy).keys() >= CALLS
    for name in CALLS:
        herder = create_autospec(HerderApi)
        arguments = [object() for _ in signature(getattr(HerderApi, name)).parameters][1:]
        answer = getattr(HerderProxy(herder), name)(*arguments)
        called = getattr(herder, name)
        called.assert_called_once_with(*arguments)
        assert answer in (called.return_value, None)
