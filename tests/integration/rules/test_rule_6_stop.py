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


def test_what_was_taken_from_the_source_is_committed_before_stop(
    connectors: ConnectClient, scripted, topics: Topics, name: str
) -> None:
    scripted(count=100_000, batch=10, pause_ms=100)
    eventually(lambda: len(topics.values(name)) > 10, what="records")
    connectors.stop(name)
    taken = numbers_of(topics.values(name), 0)
    assert taken == list(range(len(taken)))
    assert connectors.offsets(name) == [{"partition": {"task": 0}, "offset": {"next": len(taken)}}]
