"""`penstock produce`."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from commands import Commands
from topics import Topics
from waiting import eventually


@pytest.fixture
def topic(topics: Topics, name: str) -> str:
    topics.create(name, partitions=2)
    return name


def test_each_line_is_a_record(penstock: Commands, topics: Topics, topic: str) -> None:
    done = penstock.done("produce", topic, "-p", "1", stdin=b"one\n\n\xff\x00\r\nlast")
    assert done.out == ""
    assert done.err == f'4 records written to topic "{topic}"\n'
    found = topics.messages(topic)
    assert [m.value() for m in found] == [b"one", b"", b"\xff\x00\r", b"last"]
    assert {(m.partition(), m.key()) for m in found} == {(1, None)}


def test_a_file_with_keys_headers_and_compression(
    penstock: Commands, topics: Topics, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"k1=>v=>1\nk2=>v2\n")
    penstock.done(
        *("produce", topic, "-f", str(file), "--key-separator", "=>", "--compression", "zstd"),
        *("--header", "a=1", "--header", "b=x=y"),
    )
    found = {m.key(): m for m in topics.messages(topic)}
    assert {key: m.value() for key, m in found.items()} == {b"k1": b"v=>1", b"k2": b"v2"}
    assert found[b"k1"].headers() == [("a", b"1"), ("b", b"x=y")]


def test_all_of_the_input_as_one_record(penstock: Commands, topics: Topics, topic: str) -> None:
    penstock.done("produce", topic, "--raw", "--key", "k", stdin=b"a\nb\n\x00")
    (only,) = topics.messages(topic)
    assert (only.key(), only.value()) == (b"k", b"a\nb\n\x00")


def test_many_lines_and_a_full_queue(
    penstock: Commands, topics: Topics, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.consumers.producing.QUEUE", {"queue.buffering.max.messages": 500})
    lines = b"".join(b"%d\n" % n for n in range(20_000))
    done = penstock.done("produce", topic, "-p", "0", stdin=lines)
    assert "20,000 records" in done.err
    assert topics.values(topic) == [str(n) for n in range(20_000)]


@pytest.mark.parametrize("atomic", [[], ["--atomic"]])
def test_a_line_that_is_wrong_is_named(
    penstock: Commands, topics: Topics, topic: str, atomic: list[str]
) -> None:
    topics.produce(topic, [b"before"], partition=0)
    refused = penstock("produce", topic, "--key-separator", ":", *atomic, stdin=b"a:1\nb\nc:3\n")
    assert refused.code == 1
    assert "line 2 has no ':'" in refused.err
    written = ["before"] if atomic else ["before", "1"]
    assert sorted(topics.values(topic)) == sorted(written)
    assert f"{len(written) - 1} record" in refused.err


def test_a_line_that_is_too_large_is_named(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name, config={"max.message.bytes": "20000"})
    lines = b"small\n" * 3000 + b"x" * 50_000 + b"\nlate\n"
    refused = penstock("produce", name, "--atomic", stdin=lines)
    assert refused.code == 1
    assert "line 3001 has 50,000 bytes" in refused.err
    assert "max.message.bytes" in refused.err
    assert topics.values(name) == []
    # It fits once it is compressed; and many small lines do, though not all in one batch.
    penstock.done("produce", name, "--compression", "gzip", stdin=lines)
    penstock.done("produce", name, stdin=b"small\n" * 10_000)
    assert len(topics.values(name)) == 13_002


def test_what_the_broker_finds_too_large_is_named(
    penstock: Commands, topics: Topics, name: str, tmp_path: Path
) -> None:

    topics.create(name, config={"max.message.bytes": "20000"})
    noise = random.Random(1).randbytes(40_000).replace(b"\n", b"")
    refused = penstock("produce", name, "--compression", "lz4", stdin=b"a\n" + noise + b"\nb\n")
    assert refused.code == 1
    assert "line 2 is too large" in refused.err
    assert topics.values(name)[:1] == ["a"]


def test_an_atomic_produce_is_seen_as_a_whole(
    penstock: Commands, topics: Topics, topic: str
) -> None:
    penstock.done("produce", topic, "--atomic", stdin=b"a\nb\n")
    eventually(
        lambda: all(topics.end(topic, p) == topics.end(topic, p, committed=False) for p in (0, 1)),
        what="the markers of the transaction",
    )
    assert sorted(topics.values(topic)) == ["a", "b"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_atomic_produce_that_is_interrupted_leaves_nothing(
    penstock: Commands, topics: Topics, topic: str, number: signal.Signals
) -> None:
    running = penstock.start("produce", topic, "--atomic", "-p", "0")
    assert running.stdin is not None
    try:
        running.stdin.write(b"a\n" * 50_000)
        running.stdin.flush()
        eventually(lambda: topics.end(topic, 0, committed=False) > 0, what="records on their way")
        running.send_signal(number)
        _, err = running.communicate(timeout=30)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert b"0 records" in err
    assert b"Traceback" not in err
    assert topics.values(topic) == []


def test_a_topic_is_never_made_in_passing(penstock: Commands, topics: Topics, name: str) -> None:
    refused = penstock("produce", name, stdin=b"a\n")
    assert refused.code == 1
    assert f"`penstock topic create {name}` creates it" in refused.err
    assert name not in topics.admin.list_topics(timeout=20).topics


def test_a_partition_that_is_not_there(penstock: Commands, topic: str) -> None:
    refused = penstock("produce", topic, "-p", "7", stdin=b"a\n")
    assert refused.code == 1
    assert "has no partition 7" in refused.err
