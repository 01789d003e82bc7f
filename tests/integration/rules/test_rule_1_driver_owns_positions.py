"""Rule 1: the driver owns positions: it fences, then reads the offsets topic to its true end."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from processes import gone
from topics import Topics, numbers_of
from waiting import eventually


def test_an_alter_while_a_task_sleeps_inside_its_transaction(
    connectors: ConnectClient, scripted, topics: Topics, name: str, tmp_path: Path
) -> None:
    """The task wakes after the alter, within the life that Spark leaves it, and cannot commit."""
    waking = tmp_path / "wake up"
    # Task 1, since the alter's own transaction has task 0's id and fences that one by the way.
    scripted(
        tasks_max=2, count=100, batch=10, mishap=f"until:{waking}", mishap_task=1, mishap_at=10
    )
    sleeper = eventually(lambda: _process_of_task_1(topics, name), what="an open transaction")
    connectors.stop(name)
    connectors.alter_offsets(name, [{"partition": {"task": 1}, "offset": {"next": 90}}])

    assert not gone(sleeper), "the sleeper is gone already: nothing was tested"
    waking.touch()
    # At the latest when Spark kills it: killTimeout in tests/conftest.py.
    eventually(lambda: gone(sleeper), within=60, what="the sleeper's end")
    assert {"partition": {"task": 1}, "offset": {"next": 90}} in connectors.offsets(name)

    connectors.resume(name)
    eventually(lambda: numbers_of(topics.values(name), 1), what="records after the alter")
    ends = [{"partition": {"task": task}, "offset": {"next": 100}} for task in (0, 1)]
    eventually(lambda: all(end in connectors.offsets(name) for end in ends), what="the end")
    assert numbers_of(topics.values(name), 1) == list(range(90, 100))
    assert numbers_of(topics.values(name), 0) == list(range(100))


def _process_of_task_1(topics: Topics, name: str) -> int:
    messages = topics.messages(name, committed=False)
    mine = [m for m in messages if (m.value() or b"").startswith(b"1:")]
    return int(mine[0].key() or b"") if len(mine) >= 10 else 0


def test_another_connectors_open_transaction_in_the_shared_offsets_partition(
    connectors: ConnectClient, scripted, topics: Topics, worker: Worker, name: str, tmp_path: Path
) -> None:
    """Offsets committed behind a stranger's open transaction are waited for, not missed."""
    limit = tmp_path / "limit"
    limit.write_text("50")
    scripted(limit_file=limit, batch=10)
    eventually(lambda: len(topics.values(name)) == 50, what="a first commit")
    offsets_topic = worker.config["offset.storage.topic"]

    stranger = topics.transaction(f"stranger-of-{name}")
    partition = _partition_of(topics, offsets_topic, name)
    stranger.produce(offsets_topic, b"{}", key=b"stranger", partition=partition)
    stranger.flush(20)
    limit.write_text("100")
    eventually(lambda: len(topics.values(name)) == 100, what="offsets behind the open transaction")
    connectors.restart(name, include_tasks=True)
    limit.write_text("150")
    _assert_unchanged(lambda: topics.end(name, committed=False), seconds=2)
    stranger.abort_transaction(20)

    eventually(lambda: len(topics.values(name)) >= 150, what="the rest")
    assert numbers_of(topics.values(name), 0) == list(range(150))


def _assert_unchanged(probe: Callable[[], int], seconds: float) -> None:
    before, until = probe(), time.monotonic() + seconds
    while time.monotonic() < until:
        assert probe() == before
        time.sleep(0.1)


def _partition_of(topics: Topics, offsets_topic: str, name: str) -> int:
    mine = [m for m in topics.messages(offsets_topic) if name.encode() in (m.key() or b"")]
    return mine[-1].partition() or 0
