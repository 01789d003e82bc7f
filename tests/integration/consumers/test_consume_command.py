"""`penstock consume`: where it begins and ends, what it prints, and the place that it keeps."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from commands import Commands
from topics import Topics
from waiting import eventually


@pytest.fixture
def topic(penstock: Commands, topics: Topics, name: str) -> str:
    """Six records, one offset each."""
    topics.create(name)
    penstock.done("produce", name, stdin=b"0\n1\n2\n3\n4\n5\n")
    return name


def test_where_it_begins_and_ends(penstock: Commands, topic: str) -> None:
    for options, printed in (
        ("-B", "012345"),
        ("-H 4", "45"),
        ("-T 2", "45"),
        ("-T 99", "012345"),
        ("--start 3", "345"),
        ("--start 1 --end 3", "123"),
        ("-B -n 2", "01"),
        ("-B -p 0", "012345"),
        ("-B -A", "012345"),
        ("--since 1h", "012345"),
        ("-T 0", ""),
        ("", "012345"),
    ):
        lines = penstock.done("consume", topic, "-d", *options.split()).lines
        assert (options, lines) == (options, list(printed))


def test_without_d_it_ends_by_itself_where_it_is_told_to(penstock: Commands, topic: str) -> None:
    assert penstock.done("consume", topic, "-B", "-n", "3").lines == list("012")
    assert penstock.done("consume", topic, "-B", "--end", "1").lines == list("01")


def test_since_a_time(penstock: Commands, topic: str, topics: Topics) -> None:
    last = topics.messages(topic)[-1].timestamp()[1]
    later = datetime.fromtimestamp(last / 1000, UTC) + timedelta(milliseconds=1)
    assert penstock.done("consume", topic, "-d", "--since", later.isoformat()).lines == []
    eventually(lambda: datetime.now(UTC) > later, what="a later time")
    penstock.done("produce", topic, stdin=b"late\n")
    assert penstock.done("consume", topic, "-d", "--since", later.isoformat()).lines == ["late"]


def test_the_forms(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name)
    penstock.done(
        "produce", name, "--key", "k", "--header", "h=1", stdin=b'{"a": 12345678901234567890123}\n'
    )
    penstock.done("produce", name, "--raw", stdin=b"\xff\n\x00")
    read = ("consume", name, "-B", "-d")
    assert penstock.done(*read, "-o", "raw").raw == b'{"a": 12345678901234567890123}\n\xff\n\x00\n'
    json_record, binary = penstock.done(*read, "-o", "jsonl").objects()
    assert json_record["value"] == {"a": 12345678901234567890123}
    assert (json_record["topic"], json_record["partition"], json_record["offset"]) == (name, 0, 0)
    assert json_record["headers"] == [{"name": "h", "value": "1"}]
    assert (json_record["key"], binary["key"]) == ("k", None)
    assert binary["encoding"] == "base64"
    assert base64.b64decode(binary["value"]) == b"\xff\n\x00"
    dynamic = penstock.done(*read).lines
    assert dynamic[1].startswith("00000000  ff 0a 00 ")
    assert penstock.done(*read, "-k", "-n", "1").out.startswith('[k] {"a"')
    shown = penstock.done(*read, "-n", "1", "-F", "{{topic}}/{{partition}}@{{offset}} {{headers}}")
    assert shown.out == f"{name}/0@0 h=1\n"
    assert penstock.done(*read, "-n", "1", "-o", "table").lines[0] == "a"


def test_a_name_goes_on_where_it_stopped(penstock: Commands, topic: str) -> None:
    named = ("consume", topic, "-c", topic, "-B", "-d")
    assert penstock.done(*named, "-n", "2").lines == list("01")
    assert penstock.done(*named).lines == list("2345")
    assert penstock.done(*named).lines == []
    penstock.done("produce", topic, stdin=b"new\n")
    assert penstock.done(*named).lines == ["new"]
    assert penstock.done(*named, "--reset").lines == [*"012345", "new"]
    assert penstock.done("consume", topic, "-d", "-c", f"{topic}-other", "-T", "0").lines == []


def test_a_topic_made_anew_starts_afresh(penstock: Commands, topic: str) -> None:
    named = ("consume", topic, "-c", topic, "-B", "-d")
    assert len(penstock.done(*named).lines) == 6
    penstock.done("topic", "delete", topic)
    penstock.done("topic", "create", topic)
    penstock.done("produce", topic, stdin=b"a\nb\n")
    assert penstock.done(*named).lines == ["a", "b"]


def test_a_mistyped_name_is_noticed(penstock: Commands, topic: str) -> None:
    first = penstock.done("consume", topic, "-c", topic, "-n", "2")
    assert (first.lines, "is new on topic" in first.err) == (list("01"), True)
    again = penstock.done("consume", topic, "-c", topic, "-d")
    assert (again.lines, again.err) == (list("2345"), "")
    mistyped = penstock.done("consume", topic, "-c", f"{topic}x", "-d")
    assert f"Consumer '{topic}x' is new on topic {topic}: it begins" in mistyped.err


def test_manual_keeps_the_place_only_at_the_end(penstock: Commands, topic: str) -> None:
    named = ("-c", topic, "-B", "--manual")
    running = penstock.start("consume", topic, *named)
    read_lines(running, 6)
    assert ended(running, signal.SIGINT) == 0
    assert penstock.done("consume", topic, *named, "-n", "2").lines == list("01")
    assert penstock.done("consume", topic, *named, "-d").lines == list("2345")
    assert penstock.done("consume", topic, *named, "-d").lines == []


def test_signals_keep_what_was_written(penstock: Commands, topic: str) -> None:
    for number, expected in ((signal.SIGINT, 6), (signal.SIGTERM, 1)):
        running = penstock.start("consume", topic, "-c", topic, "-B")
        read_lines(running, expected)
        assert ended(running, number) == 0
        penstock.done("produce", topic, stdin=b"new\n")
    assert penstock.done("consume", topic, "-c", topic, "-d").lines == ["new"]


def test_what_a_closed_pipe_did_not_take_comes_again(
    penstock: Commands, topics: Topics, name: str
) -> None:
    topics.create(name)
    # Each is larger than what a pipe takes before somebody reads it.
    large = [bytes([letter]) * 200_000 for letter in b"abc"]
    penstock.done("produce", name, stdin=b"\n".join(large))
    running = penstock.start("consume", name, "-c", name, "-B", "-o", "raw")
    assert running.stdout is not None
    assert os.read(running.stdout.fileno(), 10) == b"aaaaaaaaaa"
    running.stdout.close()
    assert running.wait(30) == 0
    assert_quiet(running)
    again = penstock.done("consume", name, "-c", name, "-B", "-d", "-o", "raw")
    assert again.raw == b"".join(value + b"\n" for value in large)


def test_it_notices_that_nobody_listens_while_nothing_comes(penstock: Commands, topic: str) -> None:
    running = penstock.start("consume", topic, "-c", topic, "-B")
    read_lines(running, 6)
    assert running.stdout is not None
    running.stdout.close()
    assert running.wait(30) == 0
    assert_quiet(running)
    assert penstock.done("consume", topic, "-c", topic, "-d").lines == []


def test_what_cannot_be_read(penstock: Commands, topic: str) -> None:
    unknown = penstock("consume", f"{topic}-other", "-d")
    assert unknown.code == 1
    assert f"`penstock topic create {topic}-other` creates it" in unknown.err
    assert "has no partition 3" in penstock("consume", topic, "-p", "3").err
    nowhere = penstock("consume", topic, "--start", "99")
    assert nowhere.code == 1
    assert "has offsets 0 to 5, not 99" in nowhere.err


def read_lines(running: subprocess.Popen[bytes], count: int) -> None:
    assert running.stdout is not None
    for _ in range(count):
        assert running.stdout.readline().endswith(b"\n")


def ended(running: subprocess.Popen[bytes], number: signal.Signals) -> int:
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert (out, beside_new_names(err)) == (b"", [])
    return running.returncode


def beside_new_names(err: bytes) -> list[str]:
    """What was told on standard error, but for the note that a name is new."""
    told = err.decode().splitlines()
    return [line for line in told if not re.match("Consumer '.*' is new on topic", line)]


def assert_quiet(running: subprocess.Popen[bytes]) -> None:
    assert running.stderr is not None
    assert beside_new_names(running.stderr.read()) == []
    running.stderr.close()
    assert running.stdin is not None
    running.stdin.close()
