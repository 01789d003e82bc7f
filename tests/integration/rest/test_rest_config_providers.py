"""References in a connector's config: values reach the task, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from topics import Topics
from waiting import eventually

SECRET = "sesam-oeffne-dich"
TASK = "sample_connectors.scripted_source"
Referred = Callable[..., dict[str, str]]


def test_values_reach_the_task_and_nothing_else(
    connectors: ConnectClient,
    worker: Worker,
    topics: Topics,
    referred: Referred,
    reach,
    name: str,
    log: Callable[[], list[str]],
) -> None:
    """Not the config topic, not REST, not a log line, not a trace."""
    topics.create(f"to-{name}")
    refer = referred(topic=name, password=SECRET)
    connectors.set_logger_level(TASK, "DEBUG")
    sent = {
        "connector.class": "ScriptedSource",
        "topic": f"to-{refer['topic']}",
        "password": refer["password"],
        "count": "20",
    }
    assert connectors.create(name, sent)["config"] == {**sent, "name": name}
    eventually(lambda: len(topics.values(f"to-{name}")) == 20, what="the records")
    sent |= {"count": "100", "mishap": "raise", "mishap.at": "25"}
    connectors.put_config(name, sent)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert "cannot log in with [hidden]" in trace

    (task,) = connectors.tasks(name)
    assert task["config"] == {**sent, "name": name, "task.id": "0", "task.class": task_class()}
    assert connectors.config(name)["password"] == refer["password"]
    shown = json.dumps([connectors.expanded("status", "info"), trace, log()])
    assert "at number 0, logged in with [hidden]" in shown
    assert SECRET not in shown
    stored = topics.messages(str(worker.config["config.storage.topic"]))
    assert any(name.encode() in (message.value() or b"") for message in stored)
    assert not any(SECRET.encode() in (message.value() or b"") for message in stored)


def task_class() -> str:
    return f"{TASK}.ScriptedSourceTask"


def test_a_changed_file_restarts_connector_and_failed_tasks(
    connectors: ConnectClient, topics: Topics, referred: Referred, reach, arrive, name: str
) -> None:
    topics.create(name)
    refer = referred(count=5, mishap="")
    keys = {"topic": name, "mishap.at": "7", "mishap": refer["mishap"], "count": refer["count"]}
    connectors.create(name, {"connector.class": "ScriptedSource", "batch": "1", **keys})
    arrive(5)
    referred(count=9, mishap="raise")
    reach("RUNNING", "FAILED")
    referred(count=9, mishap="")
    arrive(9)
    reach("RUNNING", "RUNNING")


def test_a_file_that_is_not_there_yet(
    connectors: ConnectClient, topics: Topics, referred: Referred, reach, name: str
) -> None:
    """The connector cannot start, and does so by itself as soon as the file is there."""
    topics.create(name)
    refer = referred(count=3)
    config = {"connector.class": "ScriptedSource", "topic": name, **refer}
    connectors.create(name, config, "STOPPED")
    file = Path(refer["count"].removeprefix("${file:").partition(":")[0])
    file.unlink()
    connectors.resume(name)
    reach("FAILED")
    trace = connectors.status(name)["connector"]["trace"]
    assert trace == f"ConfigError: Could not read properties from file {file}"
    referred(count=3)
    reach("RUNNING", "RUNNING")
    eventually(lambda: len(topics.values(name)) == 3, what="records")
