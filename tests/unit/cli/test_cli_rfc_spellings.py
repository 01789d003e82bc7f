"""The commands of the RFC of named consumers work as they are written there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli import brokers, topic
from penstock.kafka.errors import BrokerUnavailable

Run = Callable[..., Any]


@pytest.mark.parametrize(
    "line",
    [
        "topic create my-topic1 --partition 2",
        "consume my-topic1 --consumer c1 --partition 0",
        "consume my-topic2 --consumer c2 -all",
        "topic create my-topic3",
        "consume my-topic3 -c c3",
        "consumer list",
        "consumer delete c1 --partition 0",
        "consumer delete c1",
        "topic describe my-topic1",
        "topic delete my-topic1",
        "topic list",
        "topic list --all",
    ],
)
def test_is_understood(run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    asked = Mock(side_effect=BrokerUnavailable("no broker answers"))
    monkeypatch.setattr(brokers, "_brokers_that_answer", asked)
    result = run(*line.split(), "--bootstrap-servers", "127.0.0.1:1")
    assert result.code == 1
    assert result.err.startswith("Error: no broker answers\n")


@pytest.mark.parametrize("option", ["-p", "--partition", "--partitions"])
def test_how_many_partitions(run: Run, monkeypatch: pytest.MonkeyPatch, option: str) -> None:
    admin = Mock()
    monkeypatch.setattr(topic, "_admin", lambda *_: admin)
    run("topic", "create", "t", option, "2")
    assert admin.create.call_args.kwargs["partitions"] == 2


def test_help_with_a_single_letter(run: Run) -> None:
    told = run("consume", "-h")
    assert told.code == 0
    assert "--consumer" in told.out
