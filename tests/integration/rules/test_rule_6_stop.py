"""Rule 6: stop finishes, cancels, fences, and only then says so."""

from __future__ import annotations

import time
from pathlib import Path

from penstock.client import ConnectClient
from topics import Topics, numbers_of
from waiting import eventually


def test_stop_is_true_when_it_answers_under_full_load(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "load.txt"
    with file.open("w") as out:
        out.writelines(f"{i} {'x' * 180}\n" for i in range(2_000_000))
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name}
    connectors.create(name, config)
    eventually(lambda: topics.end(name) > 50_000, within=60, what="full load")

    connectors.stop(name)
    status = connectors.status(name)
    end = topics.end(name, committed=False)
    offset = connectors.offsets(name)

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
    """A task that sleeps through the finish is cancelled; what it had open is rolled back.

    It wakes only when told to: the answer to stop does not wait for it.
    """
    waking = tmp_path / "wake up"
    scripted(count=30, batch=10, mishap=f"until:{waking}", mishap_at=20)
    eventually(lambda: topics.end(name, committed=False) >= 20, what="an open transaction")
    connectors.stop(name)
    eventually(
        lambda: topics.end(name) == topics.end(name, committed=False),
        within=5,
        what="no open transaction",
    )
    before = connectors.offsets(name)
    waking.touch()
    connectors.resume(name)
    eventually(
        lambda: numbers_of(topics.values(name), 0) == list(range(30)), within=60, what="the rest"
    )
    assert before in ([], [{"partition": {"task": 0}, "offset": {"next": 20}}])


def test_a_task_that_takes_seconds_to_close_is_left_to_it_and_disturbs_no_other(
    connectors: ConnectClient, topics: Topics, scripted, name: str, tmp_path: Path
) -> None:
    """All is committed by then: stop answers, and the carrier with the other lease stays."""
    closed, other = tmp_path / "closed", f"{name}-other"
    topics.create(other)
    endless = {"count": "1000000", "batch": "1", "pause.ms": "100"}
    connectors.create(other, {"connector.class": "ScriptedSource", "topic": other, **endless})
    scripted(count=1_000_000, batch=1, pause_ms=100, close_ms=4000, closed_file=closed)
    eventually(lambda: topics.values(name) and topics.values(other), what="records of both")
    shared = _processes(topics, other)
    assert _processes(topics, name) == shared, "they do not share a carrier: nothing is tested"
    connectors.stop(name)
    taken = topics.values(name)
    assert not closed.exists()
    assert connectors.offsets(name) == [{"partition": {"task": 0}, "offset": {"next": len(taken)}}]
    eventually(closed.exists, within=10, what="a task that has closed")
    reached = topics.end(other)
    eventually(lambda: topics.end(other) > reached + 40, what="more of the other")
    assert _processes(topics, other) == shared


def _processes(topics: Topics, name: str) -> set[bytes | None]:
    """In which the connector's task has run."""
    return {message.key() for message in topics.messages(name)}


def test_what_was_taken_from_the_source_is_committed_before_stop(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    scripted(count=100_000, batch=10, pause_ms=100)
    eventually(lambda: len(topics.values(name)) > 10, what="records")
    connectors.stop(name)
    taken = numbers_of(topics.values(name), 0)
    assert taken == list(range(len(taken)))
    assert connectors.offsets(name) == [{"partition": {"task": 0}, "offset": {"next": len(taken)}}]
