"""Rule 6: stop finishes, cancels, fences, and only then says so."""

from __future__ import annotations

import time
from pathlib import Path

import psutil

from penstock.client import ConnectClient
from topics import Topics, numbers_of
from waiting import eventually


def own_time() -> float:
    """A clock that stands still while the host runs other guests instead of this machine."""
    return time.monotonic() - psutil.cpu_times().steal / (psutil.cpu_count() or 1)


def test_stop_answers_and_is_true_within_5_s_under_full_load(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "load.txt"
    with file.open("w") as out:
        out.writelines(f"{i} {'x' * 180}\n" for i in range(2_000_000))
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name}
    connectors.create(name, config)
    eventually(lambda: topics.end(name) > 50_000, within=60, what="full load")

    began = own_time()
    connectors.stop(name)
    took = own_time() - began
    status = connectors.status(name)
    end = topics.end(name, committed=False)
    offset = connectors.offsets(name)

    assert took < 5
    assert status["connector"]["state"] == "STOPPED"
    assert (status["tasks"], connectors.tasks(name)) == ([], [])
    assert 0 < offset[0]["offset"]["position"] < file.stat().st_size
    watch_until = time.monotonic() + 4
    while time.monotonic() < watch_until:
        assert topics.end(name, committed=False) == end
        assert connectors.offsets(name) == offset
        time.sleep(0.2)


def test_stop_of_a_task_that_does_not_listen(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path: Path
) -> None:
    """A task that sleeps through the finish is cancelled; what it had open is rolled back."""
    once = tmp_path / "struck"
    scripted(count=30, batch=10, mishap="sleep:20", mishap_at=20, mishap_once=once)
    eventually(lambda: topics.end(name, committed=False) >= 20, what="an open transaction")
    began = own_time()
    connectors.stop(name)
    assert own_time() - began < 5
    eventually(
        lambda: topics.end(name) == topics.end(name, committed=False),
        within=5,
        what="no open transaction",
    )
    before = connectors.offsets(name)
    connectors.resume(name)
    eventually(
        lambda: numbers_of(topics.values(name), 0) == list(range(30)), within=60, what="the rest"
    )
    assert before in ([], [{"partition": {"task": 0}, "offset": {"next": 20}}])


def test_what_was_taken_from_the_source_is_committed_before_stop(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    scripted(count=100_000, batch=10, pause_ms=100)
    eventually(lambda: len(topics.values(name)) > 10, what="records")
    connectors.stop(name)
    taken = numbers_of(topics.values(name), 0)
    assert taken == list(range(len(taken)))
    assert connectors.offsets(name) == [{"partition": {"task": 0}, "offset": {"next": len(taken)}}]
