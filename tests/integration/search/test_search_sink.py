"""The Elasticsearch sink on a worker, as its how-to configures it, with a real OpenSearch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.search_server import SearchServer
from documented import documented
from keyed_records import produce_keyed
from penstock.client import ConnectClient
from played_search import PASSWORD, USER, PlayedSearch
from sink_offsets import entry
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy
LONG = 240


@pytest.fixture
def guarded(search: SearchServer) -> Iterator[PlayedSearch]:
    """The server of this run behind one that wants a password."""
    with PlayedSearch(search.url) as running:
        yield running


def _config(url: str, topic: str, folder: Path, password: str = PASSWORD) -> dict[str, str]:
    file = folder / f"{topic}.properties"
    file.write_text(f"password={password}\n")
    return {
        **documented("docs/search.md", "orders-to-search"),
        "connection.url": url,
        "connection.username": USER,
        "connection.password": f"${{file:{file}:password}}",
        "topics": topic,
        "errors.deadletterqueue.topic.name": f"{topic}-dead",
        "errors.deadletterqueue.topic.replication.factor": "1",
    }


def _at_end(connectors: ConnectClient, topics: Topics, name: str) -> bool:
    return connectors.offsets(name) == [entry(name, 0, topics.end(name))]


def test_documents_tombstones_dead_letters_and_a_rewind(
    connectors: ConnectClient, topics: Topics, search: SearchServer, guarded: PlayedSearch,
    secrets_folder: Path, name: str,
) -> None:  # fmt: skip
    topics.create(name)
    numbers: list[tuple[str, str | None]] = [(f"k{n}", f'{{"n": {n}}}') for n in range(50)]
    bad = ("k13", '{"n": "thirteen"}')
    produce_keyed(topics, name, [*numbers, bad, ("k7", None), ("k8", '{"n": 88}')])
    connectors.create(name, _config(guarded.url, name, secrets_folder))
    eventually(lambda: _at_end(connectors, topics, name), within=LONG, what="the end")
    expected = {f"k{n}": {"n": n} for n in range(50) if n != 7} | {"k8": {"n": 88}}
    assert search.documents(name) == expected, "all but the bad record have landed"
    _one_dead_letter(topics, name, bad[1], 50)

    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 0, 30)])
    connectors.resume(name)
    eventually(lambda: _at_end(connectors, topics, name), within=LONG, what="the end again")
    eventually(lambda: topics.end(f"{name}-dead") > 2, within=LONG, what="that record's letter")
    assert search.documents(name) == expected


def _one_dead_letter(topics: Topics, name: str, value: str, offset: int) -> None:
    (dead,) = topics.messages(f"{name}-dead")
    assert dead.value() == value.encode()
    headers: Any = dead.headers()
    told = dict(headers)
    assert b"failed to parse field [n]" in told["__connect.errors.exception.message"]
    assert told["__connect.errors.offset"] == str(offset).encode()


def test_a_server_that_restarts_is_waited_for(
    connectors: ConnectClient, topics: Topics, search: SearchServer, secrets_folder: Path, name: str
) -> None:
    topics.create(name)
    produce_keyed(topics, name, [(str(n), f'{{"n": {n}}}') for n in range(200)])
    connectors.create(name, _config(search.url, name, secrets_folder))
    eventually(lambda: len(search.documents(name)) == 200, within=LONG)
    search.kill()
    produce_keyed(topics, name, [(str(n), f'{{"n": {n}}}') for n in range(200, 400)])
    eventually(lambda: _retries(connectors, name), within=LONG, what="a sink that tries again")
    assert connectors.status(name)["tasks"][0]["state"] == "RUNNING"
    search.start()
    eventually(lambda: _at_end(connectors, topics, name), within=LONG, what="the end")
    assert search.documents(name) == {str(n): {"n": n} for n in range(400)}


def _retries(connectors: ConnectClient, name: str) -> bool:
    return any(task["errors"]["retries"] for task in connectors.metrics(name)["tasks"])


def test_wrong_credentials_fail_the_task_and_no_secret_is_shown(
    connectors: ConnectClient, topics: Topics, guarded: PlayedSearch, secrets_folder: Path,
    name: str,
) -> None:  # fmt: skip
    topics.create(name)
    produce_keyed(topics, name, [("a", '{"n": 1}')])
    connectors.create(name, _config(guarded.url, name, secrets_folder, "hunter2-wrong"))

    def failed() -> str:
        (task,) = connectors.status(name)["tasks"] or [{}]
        return task["trace"] if task.get("state") == "FAILED" else ""

    trace = eventually(failed, within=LONG, what="a failed task")
    assert "refused the credentials" in trace
    assert "Check 'connection.username' and 'connection.password'" in trace
    assert "Traceback" not in trace
    assert "hunter2" not in json.dumps(connectors.status(name)) + json.dumps(connectors.info(name))
