"""Both ends of the heartbeat, over a real socket."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from penstock.engine.driver import watches
from penstock.engine.driver.watches import HeartbeatServer, TurnWatch
from penstock.engine.lease import heartbeats as heartbeats_module
from penstock.engine.lease.heartbeats import Heartbeat, beating
from penstock.engine.lease.lease import HeartbeatAddress, Limits
from waiting import eventually

QUICK = Limits(heartbeat_seconds=0.05, dry_seconds=0.3, unanswered_seconds=30.0)
IMPATIENT = replace(QUICK, unanswered_seconds=1.0)
RARE = replace(QUICK, heartbeat_seconds=30.0, unanswered_seconds=60.0)


@pytest.fixture
def server() -> Iterator[HeartbeatServer]:
    listening = HeartbeatServer()
    yield listening
    listening.close()


@pytest.fixture
def beat(server: HeartbeatServer) -> Iterator[Callable[..., Heartbeat]]:
    """Leases that beat until the test ends."""
    with ExitStack() as stack:

        def begin(turn: TurnWatch, lease_id: str = "a", limits: Limits = QUICK) -> Heartbeat:
            server.watch(lease_id, turn)
            return stack.enter_context(beating(server.address, lease_id, limits))

        yield begin


def begun(limits: Limits = QUICK) -> TurnWatch:
    turn = TurnWatch(limits)
    turn.begin()
    return turn


def dry(heartbeat: Heartbeat, seconds: float = 10.0) -> None:
    heartbeat.progress.dry_since = time.monotonic() - seconds


def goes_on(heartbeat: Heartbeat, seconds: float = 0.3) -> bool:
    time.sleep(seconds)
    return not heartbeat.over


def test_a_busy_lease_goes_on_and_is_heard_of(beat: Callable[..., Heartbeat]) -> None:
    turn = begun()
    heartbeat = beat(turn)
    heartbeat.progress.records, heartbeat.progress.payload_bytes = 7, 70
    eventually(lambda: turn.totals() == (7, 70), within=20)
    assert goes_on(heartbeat)


def test_finish_is_pushed_and_does_not_wait_for_the_next_beat(
    beat: Callable[..., Heartbeat],
) -> None:
    turn = begun()
    heartbeat = beat(turn, limits=RARE)
    heartbeat.progress.records = 1
    eventually(lambda: turn._sockets, within=20, what="the first beat")
    turn.finish()
    assert heartbeat.finish.wait(20)
    assert turn.finishing


def test_finish_before_the_first_beat_is_the_answer_to_it(beat: Callable[..., Heartbeat]) -> None:
    turn = begun()
    turn.finish()
    assert beat(turn, limits=RARE).finish.wait(20)


def test_one_finish_reaches_every_lease_of_the_turn(beat: Callable[..., Heartbeat]) -> None:
    turn = begun()
    leases = [beat(turn, str(i), RARE) for i in range(3)]
    eventually(lambda: len(turn._sockets) == 3, within=20)
    turn.finish()
    assert all(lease.finish.wait(20) for lease in leases)


def test_a_lease_that_nobody_knows_is_told_to_finish(server: HeartbeatServer) -> None:
    with beating(server.address, "stranger", QUICK) as heartbeat:
        assert heartbeat.finish.wait(20)


def test_a_lease_that_is_forgotten_is_told_to_finish(
    server: HeartbeatServer, beat: Callable[..., Heartbeat]
) -> None:
    heartbeat = beat(begun())
    assert goes_on(heartbeat)
    server.forget("a")
    assert heartbeat.finish.wait(20)


@pytest.mark.parametrize(
    "line",
    [
        {"token": "guess", "lease": "a", "records": 99},
        {"lease": "a", "records": 99},
        {"token": None, "lease": "a", "records": 99},
        ["token"],
        "no json",
    ],
)
def test_a_beat_without_the_token_is_refused(server: HeartbeatServer, line: object) -> None:
    turn = begun()
    server.watch("a", turn)
    address = (server.address.host, server.address.port)
    with socket.create_connection(address, timeout=20) as connection:
        text = line if isinstance(line, str) else json.dumps(line)
        connection.sendall(text.encode() + b"\n")
        assert connection.recv(100) == b""
    assert turn.totals() == (0, 0)


def test_a_wrong_token_leaves_a_lease_orphaned(server: HeartbeatServer) -> None:
    server.watch("a", begun())
    stale = replace(server.address, token="another worker's")
    with beating(stale, "a", IMPATIENT) as heartbeat:
        assert heartbeat.orphaned.wait(20)
        assert not heartbeat.finish.is_set()
        assert heartbeat.over


def test_a_lease_whose_worker_is_silent_is_orphaned() -> None:
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = HeartbeatAddress("127.0.0.1", frozen.getsockname()[1], "token")
        began = time.monotonic()
        with beating(address, "a", IMPATIENT) as heartbeat:
            assert heartbeat.orphaned.wait(20)
        assert time.monotonic() - began >= IMPATIENT.unanswered_seconds


def test_a_lease_whose_worker_is_gone_is_orphaned(
    server: HeartbeatServer, beat: Callable[..., Heartbeat]
) -> None:
    heartbeat = beat(begun())
    assert goes_on(heartbeat)
    address = HeartbeatAddress(server.address.host, 1, "token")
    with beating(address, "b", IMPATIENT) as orphan:
        assert orphan.orphaned.wait(20)
    assert not heartbeat.over


def test_a_broken_connection_is_made_again(beat: Callable[..., Heartbeat]) -> None:
    turn = begun()
    heartbeat = beat(turn)
    [first] = eventually(lambda: list(turn._sockets.values()), within=20)
    first.shutdown(socket.SHUT_RDWR)
    eventually(lambda: turn._sockets["a"] is not first, within=20, what="another connection")
    eventually(lambda: heartbeat._asked is None, within=20, what="an answer there")
    assert goes_on(heartbeat)


def test_a_dry_lease_finishes_when_it_has_been_dry_long_enough(
    beat: Callable[..., Heartbeat],
) -> None:
    heartbeat = beat(begun())
    began = time.monotonic()
    heartbeat.progress.dry_since = began
    assert heartbeat.finish.wait(20)
    assert time.monotonic() - began >= QUICK.dry_seconds


def test_leases_of_one_turn_finish_only_when_all_of_them_are_dry(
    beat: Callable[..., Heartbeat],
) -> None:
    turn = begun()
    first, second = beat(turn, "a"), beat(turn, "b")
    dry(first)
    assert goes_on(first)
    dry(second)
    assert first.finish.wait(20)
    assert second.finish.wait(20)


def test_a_lease_that_has_not_begun_is_not_dry(
    server: HeartbeatServer, beat: Callable[..., Heartbeat]
) -> None:
    turn = begun()
    server.watch("late", turn)
    first = beat(turn, "a")
    dry(first)
    assert goes_on(first)


def test_a_lease_that_has_had_its_time_finishes(beat: Callable[..., Heartbeat]) -> None:
    turn = begun()
    heartbeat = beat(turn)
    assert goes_on(heartbeat)
    turn.limits = replace(QUICK, lease_seconds=0.0)
    assert heartbeat.finish.wait(20)


def test_the_time_before_the_job_is_submitted_does_not_count(
    beat: Callable[..., Heartbeat],
) -> None:
    turn = TurnWatch(replace(QUICK, lease_seconds=0.1))
    heartbeat = beat(turn)
    assert goes_on(heartbeat)
    turn.begin()
    assert heartbeat.finish.wait(20)


def test_where_it_is_crowded_a_dry_lease_finishes_at_once(beat: Callable[..., Heartbeat]) -> None:
    patient = replace(QUICK, dry_seconds=60.0)
    turn = begun(patient)
    heartbeat = beat(turn, limits=patient)
    dry(heartbeat, 0.01)
    assert goes_on(heartbeat)
    turn.crowded = True
    assert heartbeat.finish.wait(20)


def test_where_it_is_crowded_a_busy_lease_finishes_after_its_quantum(
    beat: Callable[..., Heartbeat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watches, "BUSY_QUANTUM", 60.0)
    turn = begun()
    heartbeat = beat(turn)
    turn.crowded = True
    assert goes_on(heartbeat)
    monkeypatch.setattr(watches, "BUSY_QUANTUM", 0.0)
    assert heartbeat.finish.wait(20)


def test_a_task_that_hangs_is_heard_of_with_its_place(
    beat: Callable[..., Heartbeat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeats_module, "STUCK_SECONDS", 60.0)
    turn = begun()
    heartbeat = beat(turn)
    eventually(lambda: turn._beats["a"], within=20, what="the first beat")
    assert turn.stuck("a") == ""

    def hang_here() -> str:
        monkeypatch.setattr(heartbeats_module, "STUCK_SECONDS", 0.2)
        return eventually(lambda: turn.stuck("a"), within=20)

    assert "hang_here" in hang_here()
    heartbeat.progress.step()
    assert turn.stuck("unknown") == ""


def test_when_one_lease_ends_early_its_siblings_finish(
    server: HeartbeatServer, beat: Callable[..., Heartbeat]
) -> None:
    """Else its failure would be known only at the end of their time."""
    turn = begun()
    sibling = beat(turn, "a")
    server.watch("b", turn)
    with beating(server.address, "b", QUICK) as broken:
        eventually(lambda: turn._beats["b"], within=20, what="its first beat")
        assert goes_on(sibling)
        broken.progress.ended_early = True
    assert sibling.finish.wait(20)
