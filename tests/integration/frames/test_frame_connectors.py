"""Frame connectors through a real worker: Kafka, Spark's plan, Kafka, exactly once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from penstock.client import ConnectClient
from penstock.engine.frames import kafka_turn
from sink_offsets import entry, in_group
from topics import Topics
from waiting import eventually

Make = Callable[..., None]
PARTITIONS = 3


@pytest.fixture(params=["small", pytest.param("large", marks=pytest.mark.heavy)])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both paths keep the same contract."""
    if request.param == "large":
        monkeypatch.setattr(kafka_turn, "MOST_BYTES", -1)
    return str(request.param)


@pytest.fixture
def output(topics: Topics, name: str) -> str:
    """The input has the test's name, and this many partitions; the output one."""
    topics.create(name, PARTITIONS)
    topics.create(f"{name}-out")
    return f"{name}-out"


@pytest.fixture
def make(connectors: ConnectClient, name: str, output: str) -> Make:
    """Creates the test's connector."""

    def create(**keys: Any) -> None:
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        own = {"connector.class": "Framed", "topics": name, "output": output, "tasks.max": "3"}
        connectors.create(name, {**own, **config})

    return create


def fill(topics: Topics, topic: str, numbers: Iterable[int]) -> None:
    """A number is in the partition that it has modulo three."""
    wanted = list(numbers)
    for partition in range(PARTITIONS):
        mine = [b"%d" % n for n in wanted if n % PARTITIONS == partition]
        if mine:
            topics.produce(topic, mine, partition=partition)


def tasks(client: ConnectClient, name: str) -> list[str]:
    return [task["state"] for task in client.status(name)["tasks"]]


def caught_up(topics: Topics, name: str) -> bool:
    ends = [entry(name, p, topics.end(name, p)) for p in range(PARTITIONS)]
    return in_group(topics, f"connect-{name}") == [e for e in ends if e["offset"]["kafka_offset"]]


def await_end(topics: Topics, name: str) -> None:
    eventually(lambda: caught_up(topics, name), within=90, what="all offsets committed")


def numbers_in(topics: Topics, topic: str) -> list[int]:
    return sorted(map(int, topics.values(topic)))


def test_records_come_out_as_planned(
    size: str, make: Make, connectors: ConnectClient, topics: Topics, name: str, output: str
) -> None:
    """Each once, in order within a partition, with the offsets of the connector's group."""
    fill(topics, name, range(30))
    make(select="key", where="value <> '7'")
    eventually(lambda: tasks(connectors, name) == ["FAILED"] * 3, within=90, what="a refusal")
    trace = connectors.status(name)["tasks"][0]["trace"]
    assert "build has to return a column value" in trace
    text = "CAST(value AS STRING)"
    select = f"CAST(CAST({text} AS INT) * 10 AS STRING) AS value; value AS key"
    connectors.put_config(name, {**connectors.info(name)["config"], "select": select})
    await_end(topics, name)
    fill(topics, name, range(30, 36))
    await_end(topics, name)
    assert numbers_in(topics, output) == [n * 10 for n in range(36) if n != 7]
    found = [int(m.key() or b"") for m in topics.messages(output)]
    for partition in range(PARTITIONS):
        mine = [n for n in found if n % PARTITIONS == partition]
        assert mine == sorted(mine)
    assert connectors.offsets(name) == in_group(topics, f"connect-{name}")
    plan = connectors.plan(name)
    assert "== Physical Plan ==" in plan
    assert "* 10" in plan


def test_offsets_are_altered_and_records_come_again(
    size: str, make: Make, connectors: ConnectClient, topics: Topics, name: str, output: str
) -> None:
    fill(topics, name, range(9))
    make()
    await_end(topics, name)
    assert numbers_in(topics, output) == list(range(9))
    connectors.stop(name)
    connectors.alter_offsets(name, [entry(name, 1, 1)])
    connectors.resume(name)
    await_end(topics, name)
    assert numbers_in(topics, output) == sorted([*range(9), 4, 7])
    connectors.pause(name)
    fill(topics, name, range(9, 12))
    eventually(lambda: connectors.status(name)["connector"]["state"] == "PAUSED", what="paused")
    connectors.resume(name)
    await_end(topics, name)
    assert numbers_in(topics, output) == sorted([*range(12), 4, 7])


def test_bad_rows_are_dead_letters(
    size: str,
    make: Make,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    output: str,
    tmp_path: Path,
) -> None:
    fill(topics, name, range(6))
    topics.produce(name, [b"six"])
    notes = tmp_path / "notes"
    make(
        select="value; key; IF(try_cast(CAST(value AS STRING) AS INT) IS NULL, "
        "concat('no number: ', CAST(value AS STRING)), NULL) AS error",
        errors_tolerance="all",
        errors_deadletterqueue_topic_name=f"{name}-dead",
        errors_deadletterqueue_topic_replication_factor=1,
        errors_deadletterqueue_context_headers_enable="true",
        notes=notes,
    )
    await_end(topics, name)
    assert numbers_in(topics, output) == list(range(6))
    [letter] = topics.messages(f"{name}-dead")
    assert letter.value() == b"six"
    headers = dict(letter.headers() or ())
    assert headers["__connect.errors.exception.message"] == b"no number: six"
    told = [json.loads(line) for line in notes.read_text().splitlines()]
    turned = [each["turned"] for each in told if "turned" in each]
    assert sum(each[0] for each in turned) == 6
    assert [each[2] for each in turned if each[1]] == [["no number: six"]]
    assert {each[3] for each in turned} == {size == "small"}


@pytest.mark.heavy
def test_a_bad_row_that_is_not_tolerated(
    size: str, make: Make, connectors: ConnectClient, topics: Topics, name: str, output: str
) -> None:
    """Its task fails, and commits nothing of its turn; the others go on."""
    fill(topics, name, range(6))
    make(select="value; IF(value = '4', 'four is not for us', NULL) AS error")
    eventually(lambda: tasks(connectors, name).count("FAILED") == 1, within=90, what="a failure")
    [failed] = [t for t in connectors.status(name)["tasks"] if t["state"] == "FAILED"]
    assert "four is not for us" in failed["trace"]
    assert "errors.tolerance=all" in failed["trace"]
    eventually(lambda: len(in_group(topics, f"connect-{name}")) == 2, within=90, what="the others")
    assert numbers_in(topics, output) == [0, 2, 3, 5]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("reshaping", "words"),
    [
        ("shuffle", "moves records between tasks"),
        ("union", "leave out union"),
        ("coalesce", "leave out union and coalesce"),
        ("other task", "must keep the column task"),
        ("forget task", "has to return a column task"),
        ("raise", "no plan today"),
    ],
)
def test_plans_that_are_refused(
    make: Make,
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    output: str,
    reshaping: str,
    words: str,
) -> None:
    fill(topics, name, range(3))
    make(reshaping=reshaping)
    eventually(lambda: "FAILED" in tasks(connectors, name), within=90, what="a failure")
    traces = [t.get("trace", "") for t in connectors.status(name)["tasks"]]
    assert any(words in trace for trace in traces), traces
    assert topics.values(output) == []
    assert connectors.offsets(name) == []
    connectors.put_config(name, {**connectors.info(name)["config"], "reshaping": ""})
    await_end(topics, name)
    assert numbers_in(topics, output) == [0, 1, 2], "nothing was lost meanwhile"


@pytest.mark.heavy
def test_nothing_is_left_of_the_records(
    size: str, make: Make, connectors: ConnectClient, topics: Topics, name: str, output: str
) -> None:
    """Spark knows it before it reads them; their offsets are committed all the same."""
    fill(topics, name, range(6))
    make(where="false")
    await_end(topics, name)
    assert topics.values(output) == []


@pytest.mark.heavy
def test_side_topics_and_their_ends(
    make: Make, topics: Topics, name: str, output: str, tmp_path: Path
) -> None:
    topics.create(f"{name}-table", 2)
    topics.produce(f"{name}-table", [b"1", b"2"], partition=1)
    fill(topics, name, range(3))
    notes = tmp_path / "notes"
    make(side_topic=f"{name}-table", notes=notes)
    await_end(topics, name)
    told = [json.loads(line) for line in notes.read_text().splitlines()]
    ends = [each["side"] for each in told if "side" in each]
    assert ends[-1] == [[f"{name}-table", 0, 0], [f"{name}-table", 1, 3]]
