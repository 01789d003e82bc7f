"""What a lease tells with the messages of its carrier, and how busy it says that it is."""

from __future__ import annotations

import pytest

from penstock.engine.lease.heartbeats import Heartbeat


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("penstock.engine.lease.heartbeats.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    used = [0.0]
    clock = "penstock.engine.lease.heartbeats.time.clock_gettime"
    monkeypatch.setattr(clock, lambda _clock: used[0])
    return used


def test_a_message_just_after_another_has_nothing_of_it(clock: list[float]) -> None:
    heartbeat = Heartbeat()
    assert heartbeat.tell(1)
    clock[0] += 0.2
    assert not heartbeat.tell(2)
    clock[0] += 0.4
    assert heartbeat.tell(3)


def test_a_new_topic_is_told_at_once(clock: list[float]) -> None:
    heartbeat = Heartbeat()
    heartbeat.tell(1)
    heartbeat.progress.topics.note(["a"])
    assert heartbeat.tell(2)["topics"] == ["a"]
    heartbeat.progress.topics.note(["a"])
    assert not heartbeat.tell(3)


def test_messages_without_it_confirm_no_topic(clock: list[float]) -> None:
    heartbeat = Heartbeat()
    heartbeat.tell(1)
    heartbeat.progress.topics.note(["a"])
    clock[0] += 1
    heartbeat.heard(1)
    heartbeat.tell(2)
    heartbeat.tell(3)
    heartbeat.heard(1)
    assert heartbeat.progress.topics.rest() == {"a"}
    heartbeat.heard(3)
    assert heartbeat.progress.topics.rest() == frozenset()


def test_a_new_connection_is_told_everything(clock: list[float]) -> None:
    heartbeat = Heartbeat()
    heartbeat.tell(1)
    heartbeat.tell_again()
    assert heartbeat.tell(2)


def test_making_clients_and_starting_the_task_is_no_load(
    clock: list[float], cpu: list[float]
) -> None:
    heartbeat = Heartbeat()
    cpu[0] = 3.0
    assert heartbeat.tell(1)["cpu_seconds"] == 0.0
    heartbeat.prepared()
    cpu[0] = 3.5
    clock[0] += 1
    assert heartbeat.tell(2)["cpu_seconds"] == 0.5


def test_that_all_is_committed_and_the_task_only_closes_is_told_at_once(
    clock: list[float],
) -> None:
    rung: list[float] = []
    heartbeat = Heartbeat(tell=lambda: rung.append(clock[0]))
    assert heartbeat.tell(1)["closing"] is False
    heartbeat.closes()
    assert rung == [100.0]
    assert heartbeat.tell(2)["closing"] is True
