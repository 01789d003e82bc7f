"""Offsets of sinks that nobody runs are renewed in the group that they are in."""

from __future__ import annotations

import logging
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.runtime import sink_keeper
from penstock.runtime.config.override_policy import OverridePolicy
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugins
from penstock.runtime.sink_keeper import SinkKeeper
from penstock.runtime.states import Target
from penstock.runtime.stores.sink_groups import SinkGroups
from penstock.runtime.stores.sink_snapshot import Positions

KEY = "consumer.override.group.id"
SINK = {"connector.class": "FileStreamSink", "topics": "t"}
CONFIGS = {
    "own": SINK,
    "chosen": {**SINK, KEY: "mine"},
    "lines": {"connector.class": "FileStreamSource"},
}
PLACE: dict[PartitionId, tuple[int, str]] = {("t", 0): (3, "")}


@pytest.fixture
def steps() -> list[str]:
    """What was done, in order."""
    return []


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch, steps: list[str]) -> list[tuple[str, Any]]:
    """The groups whose offsets were committed again."""
    calls: list[tuple[str, Any]] = []

    class Writes:
        def __init__(self, _: object, sink: SinkGroup) -> None:
            steps.append("fence")
            self.group = sink.group_id

        def write(self, offsets: Any) -> None:
            steps.append("write")
            calls.append((self.group, offsets))

    def read(*_: object) -> Positions:
        steps.append("read")
        return Positions(committed=PLACE)

    monkeypatch.setattr(sink_keeper, "SinkWrites", Writes)
    monkeypatch.setattr(sink_keeper, "known_positions", read)
    return calls


def keep(policy: str, *, leading: bool = True) -> None:
    configs: Any = SimpleNamespace(
        names=lambda: list(CONFIGS), config=CONFIGS.get, target=lambda _: Target.STOPPED
    )
    plugins, rules = Plugins(), Rules(overrides=OverridePolicy(policy))
    context: Any = SimpleNamespace(
        worker={"sink.offsets.recommit.interval.ms": 1},
        admin=None,
        copies=None,
        configs=configs,
        plugins=plugins,
        sink_groups=SinkGroups(configs, plugins, rules),
    )
    runners = SimpleNamespace(runner=lambda _: None)
    cluster: Any = SimpleNamespace(leading=leading, runners=runners)
    keeper = SinkKeeper(context, cluster, lambda _: threading.Lock())
    for name in CONFIGS:
        keeper._keep(name)


def test_each_in_its_group(renewed: list[tuple[str, Any]]) -> None:
    keep("All")
    assert renewed == [("connect-own", PLACE), ("mine", PLACE)]


def test_what_is_read_before_the_fence_is_never_written(
    renewed: list[tuple[str, Any]], steps: list[str]
) -> None:
    """Others may move the sink between the reading and the writing of a worker that freezes."""
    keep("All")
    assert steps == ["fence", "read", "write"] * 2


def test_a_group_that_the_policy_does_not_allow_is_left_alone(
    renewed: list[tuple[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        keep("None")
    assert renewed == [("connect-own", PLACE)]
    assert "not renewed: consumer.override.group.id: The 'None' policy does not" in caplog.text


def test_only_the_leader_looks_after_them(renewed: list[tuple[str, Any]]) -> None:
    keep("All", leading=False)
    assert renewed == []


def test_a_defect_at_one_sink_does_not_keep_the_next_from_being_renewed(
    renewed: list[tuple[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without the thread all offsets would expire, a week later and without a word."""

    def read(_admin: object, _copies: object, sink: SinkGroup) -> Positions:
        if sink.connector == "own":
            raise RuntimeError("cannot start a new thread")
        return Positions(committed=PLACE)

    monkeypatch.setattr(sink_keeper, "known_positions", read)
    keep("All")
    assert renewed == [("mine", PLACE)]
    assert "RuntimeError: cannot start a new thread" in caplog.text
