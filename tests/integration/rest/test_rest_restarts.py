"""Restarts over REST: what is restarted, what is said, and that no record is lost or doubled."""

from __future__ import annotations

from pathlib import Path

from penstock.client import ConnectClient
from topics import Topics, numbers_of
from waiting import eventually


def test_a_failed_task_until_it_is_restarted(
    connectors: ConnectClient,
    scripted,
    topics: Topics,
    reach,
    arrive,
    refused,
    name: str,
    tmp_path: Path,
) -> None:
    """It stays FAILED over pause, resume and a restart that does not name it."""
    limit = tmp_path / "limit"
    limit.write_text("30")
    scripted(
        tasks_max=2,
        limit_file=limit,
        batch=10,
        mishap="raise",
        mishap_task=1,
        mishap_at=10,
        mishap_once=tmp_path / "struck",
    )

    def emitted(task: int) -> list[int]:
        return numbers_of(topics.values(name), task)

    reach("RUNNING", "RUNNING", "FAILED")
    arrive(30)
    trace = connectors.task_status(name, 1)["trace"]
    connectors.pause(name)
    reach("PAUSED", "PAUSED", "FAILED")
    connectors.resume(name)
    reach("RUNNING", "RUNNING", "FAILED")
    connectors.restart(name)
    reach("RUNNING", "RUNNING", "FAILED")
    connectors.restart_task(name, 0)
    reach("RUNNING", "RUNNING", "FAILED")
    assert connectors.task_status(name, 1)["trace"] == trace
    limit.write_text("40")
    arrive(40)
    assert len(emitted(1)) <= 10

    shown = connectors.restart(name, include_tasks=True, only_failed=True)
    assert shown is not None
    assert shown["connector"]["state"] == "RUNNING"
    assert [task["state"] for task in shown["tasks"]] == ["RUNNING", "RESTARTING"]
    assert "trace" not in shown["tasks"][1]
    reach("RUNNING", "RUNNING", "RUNNING")
    arrive(40, 40)

    nothing = connectors.restart(name, include_tasks=True, only_failed=True)
    assert nothing == connectors.status(name)
    limit.write_text("50")
    everything = connectors.restart(name, include_tasks=True)
    assert everything is not None
    assert everything["connector"]["state"] == "RESTARTING"
    assert [task["state"] for task in everything["tasks"]] == ["RESTARTING", "RESTARTING"]
    reach("RUNNING", "RUNNING", "RUNNING")
    arrive(50, 50)
    assert [emitted(0), emitted(1)] == [list(range(50))] * 2
    assert refused(lambda: connectors.restart_task(name, 2)) == (404, f"Unknown task: {name}-2")


def test_restarts_under_load_lose_nothing(
    connectors: ConnectClient, scripted, topics: Topics, reach, arrive, name: str
) -> None:
    scripted(tasks_max=2, count=1000, batch=10, pause_ms=60)
    for restart in (
        lambda: connectors.restart(name, include_tasks=True),
        lambda: connectors.restart(name),
        lambda: connectors.restart_task(name, 1),
    ):
        before = topics.end(name)
        eventually(lambda: topics.end(name) > before, what="load")  # noqa: B023 (called at once)
        restart()
    arrive(1000, 1000)
    for task in (0, 1):
        assert numbers_of(topics.values(name), task) == list(range(1000))
    reach("RUNNING", "RUNNING", "RUNNING")


def test_a_restart_while_paused(
    connectors: ConnectClient, scripted, reach, arrive, name: str, tmp_path: Path
) -> None:
    """A FAILED task is healed by it, and rests as the others do."""
    scripted(count=20, mishap="raise", mishap_at=10, mishap_once=tmp_path / "struck")
    reach("RUNNING", "FAILED")
    connectors.pause(name)
    reach("PAUSED", "FAILED")
    connectors.restart(name, include_tasks=True, only_failed=True)
    reach("PAUSED", "PAUSED")
    connectors.resume(name)
    arrive(20)


def test_the_tasks_of_a_new_connector_can_be_restarted_at_once(
    connectors: ConnectClient, name: str, tmp_path: Path
) -> None:
    """Clients do just that: they take the answer to a create for the end of it."""
    for number in range(5):
        config = {
            "connector.class": "FileStreamSource",
            "topic": name,
            "file": str(tmp_path / f"{number}.txt"),
        }
        connectors.create(f"{name}-{number}", config)
        connectors.restart_task(f"{name}-{number}", 0)
        assert len(connectors.tasks(f"{name}-{number}")) == 1
