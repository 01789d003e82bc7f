"""When a lease takes its worker for gone: a beat was not answered, not merely a while went by."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease import heartbeats
from penstock.engine.lease.heartbeats import beating
from penstock.engine.lease.lease import HeartbeatAddress, Limits
from waiting import eventually

RARE = Limits(heartbeat_seconds=30.0, unanswered_seconds=60.0)
IMPATIENT = Limits(heartbeat_seconds=0.05, unanswered_seconds=1.0)


class Clock:
    """The monotonic clock, which can be put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the lease's end of the heartbeat goes by; the worker's end goes by the real one."""
    made = Clock()
    monkeypatch.setattr(heartbeats, "time", SimpleNamespace(monotonic=made.monotonic))
    return made


def test_a_machine_that_stood_still_makes_no_orphans(clock: Clock) -> None:
    """The next beat is sent first, and answered."""
    server, turn, beats = HeartbeatServer(), TurnWatch(RARE), []
    turn.begin()
    turn.on_beat = lambda _lease_id, body: beats.append(body)
    server.watch("a", turn)
    with beating(server.address, "a", RARE) as heartbeat:
        for count in (1, 2, 3):
            eventually(lambda: len(beats) == count, within=20, what="a beat")  # noqa: B023
            eventually(lambda: heartbeat._asked is None, within=20, what="its answer")
            clock.ahead += 2 * RARE.unanswered_seconds
        assert not heartbeat.over
    server.close()


def test_a_worker_that_fell_silent_is_noticed_although_beats_go_on() -> None:
    """Time counts from the first beat that was not answered, not from the last."""
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = HeartbeatAddress("127.0.0.1", frozen.getsockname()[1], "token")
        with beating(address, "a", IMPATIENT) as heartbeat:
            connection, _ = frozen.accept()
            with connection:
                assert connection.recv(4096)
                began = time.monotonic()
                connection.sendall(b"go on\n")
                eventually(lambda: connection.recv(4096), within=5, what="a beat after the answer")
                assert heartbeat.orphaned.wait(10)
        assert time.monotonic() - began >= IMPATIENT.unanswered_seconds


def test_a_worker_that_closes_the_door_does_not_begin_the_time_anew() -> None:
    """Each beat has a connection of its own, and none is answered."""
    with HiddenDoor() as door:
        limits = replace(IMPATIENT, heartbeat_seconds=0.5)
        with beating(door.address, "a", limits) as heartbeat:
            while not heartbeat.orphaned.is_set():
                door.close_one()
        assert door.closed > 1


class HiddenDoor:
    """Takes connections and closes them at once."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.address = HeartbeatAddress("127.0.0.1", self._socket.getsockname()[1], "token")
        self.closed = 0

    def __enter__(self) -> HiddenDoor:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def close_one(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except TimeoutError:
            return
        connection.close()
        self.closed += 1
