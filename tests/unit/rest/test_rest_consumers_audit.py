"""The audit of what is changed about named consumers and topics."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from audit_lines import audit_lines
from config_herder import config_herder
from penstock.consumers.errors import NameHeld, NoSuchConsumer, NoSuchTopic
from penstock.consumers.registry.entries import RegistryKey
from penstock.kafka.clients import Connection
from penstock.rest import create_app
from penstock.rest.consumers_api import ConsumersApi
from served_app import serving

PLACE, OTHER = RegistryKey("c", "t", 0), RegistryKey("c", "t", 1)
AT_3 = {"consumer": "c", "topic": "t", "partition": 0, "offset": 3}
AT_0 = {**AT_3, "offset": 0}
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def admin() -> Mock:
    admin = Mock()
    admin.directory.stands.return_value = {PLACE: 3, OTHER: 8}
    admin.directory.delete.return_value = [PLACE]
    admin.directory.reset.return_value = {PLACE: 0}
    admin.delete.return_value = [PLACE, OTHER]
    return admin


@pytest.fixture
def http(admin: Mock, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    api = ConsumersApi(lambda: Connection("unasked:9092"))
    api._made = admin
    monkeypatch.setattr(api, "topic", lambda name: {"name": name})
    with serving(create_app(config_herder(), consumers=api)) as client:
        yield client


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    caplog.set_level(logging.INFO, "penstock.audit")
    return lambda: audit_lines(caplog)


@pytest.mark.parametrize(
    ("method", "path", "body", "line"),
    [
        (
            "DELETE",
            "/consumers/c?topic=t&partition=0&force=true",
            None,
            {
                "what": "delete consumer",
                "consumer": "c",
                "topic": "t",
                "partition": 0,
                "force": True,
                "old": [AT_3],
            },
        ),
        (
            "POST",
            "/consumers/c/reset",
            {"topic": "t", "to": {"beginning": 0}, "partitions": [0]},
            {
                "what": "reset consumer",
                "consumer": "c",
                "topic": "t",
                "to": {"beginning": 0},
                "partitions": [0],
                "old": [AT_3],
                "new": [AT_0],
            },
        ),
        (
            "PATCH",
            "/consumers/c",
            {"ttl": "1m"},
            {"what": "update consumer", "consumer": "c", "ttl_ms": 60_000},
        ),
        (
            "POST",
            "/topics",
            {"name": "t", "partitions": 2},
            {
                "what": "create topic",
                "topic": "t",
                "partitions": 2,
                "replication": -1,
                "config": {},
                "consumer_ttl_ms": None,
            },
        ),
        (
            "PATCH",
            "/topics/t",
            {"consumer_ttl": "1m"},
            {"what": "update topic", "topic": "t", "consumer_ttl_ms": 60_000},
        ),
        (
            "DELETE",
            "/topics/t",
            None,
            {"what": "delete topic", "topic": "t", "force": False, "consumers": 2},
        ),
    ],
)
def test_a_change(
    http: httpx.Client, lines: Lines, *, method: str, path: str, body: Any, line: dict[str, Any]
) -> None:
    assert http.request(method, path, json=body).is_success
    (told,) = lines()
    assert told.pop("when").endswith("Z")
    who = {"who": "anonymous", "from": "127.0.0.1", "connector": None, "outcome": "done"}
    assert told == {**who, **line}


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (NameHeld("held"), "refused: 409"),
        (NoSuchTopic("none"), "refused: 404"),
        (NoSuchConsumer("none"), "refused: 404"),
        (ValueError("defect"), "failed: ValueError"),
    ],
)
def test_what_was_not_done(
    http: httpx.Client, admin: Mock, lines: Lines, error: Exception, outcome: str
) -> None:
    admin.directory.reset.side_effect = error
    http.post("/consumers/c/reset", json={"topic": "t", "to": {"end": 0}})
    assert [line["outcome"] for line in lines()] == [outcome]


def test_looks_are_not_told(http: httpx.Client, admin: Mock, lines: Lines) -> None:
    admin.directory.listed.return_value = admin.listed.return_value = []
    for path in ("/consumers", "/topics", "/topics/t"):
        assert http.get(path).is_success
    assert lines() == []
