"""Three workers as one cluster: whoever is asked answers, and whoever dies is replaced."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from clusters import Streams, owners, running, settled, workers_of
from insisting import insist
from penstock.client import ConnectClient, ConnectError
from penstock.client.errors import ConnectApiError
from penstock.embedded import EmbeddedBroker
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = [pytest.mark.heavy, pytest.mark.crowd]

CONNECTORS = 7


@pytest.fixture(scope="module")
def trio(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker
) -> Iterator[list[WorkerProcess]]:
    """Three workers that the tests of this module share, and leave running."""
    folder = tmp_path_factory.mktemp("trio")
    with running(workers_of(folder, broker.bootstrap_servers, "trio", 3)) as workers:
        yield workers


@pytest.fixture
def streams(tmp_path: Path, topics: Topics, name: str) -> Streams:
    return Streams(tmp_path, topics, [f"{name}-{number}" for number in range(CONNECTORS)])


@pytest.fixture
def names(name: str, trio: list[WorkerProcess]) -> Iterator[list[str]]:
    """Names of connectors, deleted after the test: those that are left disturb the balance."""
    found = [f"{name}-{number}" for number in range(CONNECTORS)]
    yield found
    client = trio[0].client
    for each in client.connectors():
        insist(partial(client.delete, each))


def create_all(workers: list[WorkerProcess], names: list[str], streams: Streams) -> None:
    """Each asked of the next worker."""
    for number, name in enumerate(names):
        client = workers[number % len(workers)].client
        insist(partial(client.create, name, streams.config(name)))
    settled(workers[0].client, len(names), workers)


def test_any_worker_answers_any_request_for_any_connector(
    trio: list[WorkerProcess], names: list[str], streams: Streams
) -> None:
    create_all(trio, names, streams)
    first, second, third = (worker.client for worker in trio)
    assert sorted(first.connectors()) == sorted(second.connectors()) == sorted(third.connectors())
    for name in names:
        for asked, looked in ((first, second), (second, third), (third, first)):
            _through_its_states(asked, looked, name)
    streams.start()
    streams.deliver(streams.stop())


def _through_its_states(asked: ConnectClient, looked: ConnectClient, name: str) -> None:
    insist(lambda: asked.pause(name))
    eventually(lambda: looked.status(name)["connector"]["state"] == "PAUSED")
    insist(lambda: asked.resume(name))
    eventually(lambda: looked.status(name)["connector"]["state"] == "RUNNING")


def test_offsets_are_altered_through_any_worker(
    trio: list[WorkerProcess], names: list[str], streams: Streams, topics: Topics
) -> None:
    create_all(trio, names, streams)
    streams.start()
    streams.deliver(lines := streams.stop())
    for number, name in enumerate(names[:3]):
        client = trio[number].client
        insist(partial(client.stop, name))
        [entry] = client.offsets(name)
        altered = {"partition": entry["partition"], "offset": {"position": 0}}
        insist(partial(client.alter_offsets, name, [altered]))
        insist(partial(client.resume, name))
        eventually(
            lambda name=name: topics.values(name) == lines * 2,  # type: ignore[misc]  # mypy: a lambda with a default
            what="everything once more",
        )


def test_of_two_creates_of_one_name_on_two_workers_one_wins(
    trio: list[WorkerProcess], name: str, streams: Streams
) -> None:
    config = {**streams.config(f"{name}-0")}
    for attempt in range(5):
        each = f"{name}-race-{attempt}"
        statuses = _created_at_once(trio[:2], {"name": each, "config": config})
        insist(partial(trio[2].client.delete, each))
        assert sorted(statuses) == [201, 409]


def _created_at_once(workers: list[WorkerProcess], body: dict[str, Any]) -> list[int]:
    start = threading.Barrier(len(workers))

    def create(worker: WorkerProcess) -> int:
        start.wait()
        return httpx.post(f"{worker.url}/connectors", json=body, timeout=60).status_code

    with ThreadPoolExecutor(len(workers)) as pool:
        return list(pool.map(create, workers))


def test_of_two_sinks_of_one_file_on_two_workers_one_is_refused(
    trio: list[WorkerProcess], names: list[str], topics: Topics, tmp_path: Path
) -> None:
    """Whichever workers run them: each would cut off the other's lines."""
    topics.create(names[0])
    sink = {"connector.class": "FileStreamSink", "topics": names[0]}
    taken = {**sink, "file": str(tmp_path / "taken.txt")}
    insist(partial(trio[0].client.create, names[0], taken))
    for worker in trio:
        with pytest.raises(ConnectApiError, match=f"is the target of connector {names[0]}"):
            _asked(worker.client, names[1], taken)
    wanted = {**sink, "file": str(tmp_path / "wanted.txt")}
    with ThreadPoolExecutor(3) as pool:
        asked = [
            pool.submit(_asked, worker.client, name, wanted)
            for worker, name in zip(trio, names[1:], strict=False)
        ]
    refused = [error for each in asked if (error := each.exception()) is not None]
    assert len(refused) == 2
    assert all("'file' is the target of connector" in str(error) for error in refused)
    eventually(lambda: len(owners(trio[0].client)) == 2, what="two sinks that run")


def _asked(client: ConnectClient, name: str, config: dict[str, str]) -> None:
    insist(partial(client.create, name, config))


def test_the_location_of_a_new_connector_is_on_the_worker_that_was_asked(
    trio: list[WorkerProcess], name: str, streams: Streams
) -> None:
    for number, worker in enumerate(trio):
        each = f"{name} ->/{number}"
        body = {"name": each, "config": streams.config(f"{name}-0"), "initial_state": "STOPPED"}
        answer = eventually(partial(_created, worker, body), what="an answer", every=0.2)
        assert answer is not None
        assert answer.status_code == 201
        assert answer.headers["location"].startswith(worker.url)
        assert httpx.get(answer.headers["location"], timeout=60).json()["name"] == each
        insist(partial(worker.client.delete, each))


def _created(worker: WorkerProcess, body: dict[str, Any]) -> httpx.Response | None:
    """The answer; None where a rebalance refused it."""
    answer = httpx.post(f"{worker.url}/connectors", json=body, timeout=60)
    return None if answer.status_code == 409 and "rebalance" in answer.text else answer


def test_unsigned_requests_between_workers_are_refused(trio: list[WorkerProcess]) -> None:
    for worker in trio:
        told = httpx.put(f"{worker.url}/internal/connectors/x/end", json=None, timeout=60)
        tasks = httpx.post(f"{worker.url}/connectors/x/tasks", json=[], timeout=60)
        forged = httpx.put(
            f"{worker.url}/internal/connectors/x/end",
            json=None,
            headers={"X-Connect-Authorization": "Zm9yZ2Vk"},
            timeout=60,
        )
        assert [told.status_code, tasks.status_code, forged.status_code] == [403, 403, 403]


def test_a_joining_worker_gets_its_share_and_only_that_moves(
    tmp_path: Path, broker: EmbeddedBroker, name: str, topics: Topics
) -> None:
    names = [f"{name}-{number}" for number in range(CONNECTORS)]
    streams = Streams(tmp_path, topics, names)
    # Nobody dies here, and whoever is only slow is not to be taken for dead.
    workers = workers_of(tmp_path, broker.bootstrap_servers, name, 3, session_ms=30_000)
    with running(workers[:2]):
        client = workers[0].client
        create_all(workers[:2], names, streams)
        streams.start()
        before = owners(client)
        try:
            workers[2].start(within=120)
            settled(client, CONNECTORS, workers)
            after = owners(client)
            moved = {each for each in names if before[each] != after[each]}
            assert len(moved) == CONNECTORS // 3
            assert {after[each] for each in moved} == {workers[2].url.removeprefix("http://")}
            assert workers[2].stop() == 0
            settled(client, CONNECTORS, workers[:2])
            left = owners(client)
            assert {each for each in names if after[each] != left[each]} == moved
            streams.deliver(streams.stop())
        finally:
            workers[2].close()


def test_a_killed_worker_is_replaced_without_loss_or_duplicate(
    trio: list[WorkerProcess], names: list[str], streams: Streams
) -> None:
    """Sources and a sink, whose worker is the first victim."""
    create_all(trio, names, streams)
    host = _create_sink(trio, names[-1], streams)
    streams.start()
    for victim in sorted(trio, key=lambda worker: worker is not host)[:2]:
        survivors = [worker for worker in trio if worker is not victim]
        victim.kill()
        settled(survivors[0].client, CONNECTORS + 1, survivors)
        victim.start(within=120)
        settled(survivors[0].client, CONNECTORS + 1, trio)
    streams.deliver(lines := streams.stop())
    streams.copied(names[-1], lines)


def _create_sink(workers: list[WorkerProcess], topic: str, streams: Streams) -> WorkerProcess:
    """A sink of one of the topics; the worker that has got it."""
    client, name = workers[0].client, f"{topic}-sink"
    insist(lambda: client.create(name, streams.sink(topic)))
    settled(client, CONNECTORS + 1, workers)
    owner = owners(client)[name]
    [host] = [worker for worker in workers if worker.url.endswith(owner)]
    return host


def test_a_frozen_worker_is_replaced_and_cannot_commit_when_it_thaws(
    trio: list[WorkerProcess], names: list[str], streams: Streams
) -> None:
    create_all(trio, names, streams)
    streams.start()
    frozen, survivors = trio[0], trio[1:]
    frozen.send(signal.SIGSTOP)
    settled(survivors[0].client, CONNECTORS, survivors)
    frozen.send(signal.SIGCONT)
    settled(survivors[0].client, CONNECTORS, trio)
    streams.deliver(streams.stop())


def test_rolling_restart_under_load(
    trio: list[WorkerProcess], names: list[str], streams: Streams
) -> None:
    """Requests meanwhile succeed, or are refused with 409 and succeed when asked again.

    Neither sources nor a sink lose or repeat anything.
    """
    create_all(trio, names, streams)
    _create_sink(trio, names[-1], streams)
    streams.start()
    refused: dict[int, str] = {}
    over = threading.Event()

    def ask_on(name: str) -> None:
        while not over.is_set():
            for worker in trio:
                try:
                    worker.client.pause(name)
                    worker.client.resume(name)
                except ConnectApiError as error:
                    refused[error.status] = error.message
                except ConnectError:
                    continue  # just being restarted

    asking = threading.Thread(target=ask_on, args=[names[0]])
    asking.start()
    try:
        for worker in trio:
            assert worker.stop() == 0
            worker.start(within=120)
    finally:
        over.set()
        asking.join()
    # 503 is the word of a worker that is just starting.
    assert set(refused) <= {409, 503}, refused
    eventually(lambda: _resumed(trio[0].client, names[0]), what="a request that succeeds")
    settled(trio[0].client, CONNECTORS + 1, trio)
    streams.deliver(lines := streams.stop())
    streams.copied(names[-1], lines)


def _resumed(client: ConnectClient, name: str) -> bool:
    try:
        client.resume(name)
    except ConnectError:
        return False
    return True
