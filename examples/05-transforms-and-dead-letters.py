"""A topic renamed on the way, and records that cannot be read set aside with the reason.

    .venv/bin/python examples/05-transforms-and-dead-letters.py

A file of JSON lines, two of them broken, goes into a topic; RegexRouter renames it from
`raw-levels` to `levels`. The sink reads JSON: what is none goes to a dead letter topic, with
headers that say where it was and what was wrong, and the sink goes on.
"""

from __future__ import annotations

import json
from pathlib import Path

from confluent_kafka import Message

from penstock.client import ConnectClient, raise_if_failed, wait_until
from running_worker import running_worker
from topic_reading import read_topic

GOOD = [{"gauge": gauge, "metres": gauge / 10} for gauge in range(8)]
BAD = ["gauge 3 out of order", '{"gauge": 5, "metres": ']
LINES = [*map(json.dumps, GOOD[:4]), BAD[0], *map(json.dumps, GOOD[4:]), BAD[1]]
DEAD = "levels-dead"


def main() -> None:
    """The story, checked on the way."""
    with running_worker() as worker, ConnectClient(worker.url) as client:
        folder = worker.folder / "05"
        folder.mkdir()
        written = folder / "levels.txt"
        client.create("levels-from-file", source(folder / "raw.txt"))
        client.create("levels-to-file", sink(written))

        wait_until(lambda: arrived(client, written), f"{len(GOOD)} lines")
        letters = read_topic(worker.bootstrap_servers, DEAD, len(BAD))
        wait_until(lambda: client.topics("levels-from-file") == ["levels"], "its topic")
        print(f"topic of the source: {client.topics('levels-from-file')}")
        print(f"{count(written)} of {len(LINES)} lines came through; the others are in {DEAD}:")
        for letter, text in zip(letters, BAD, strict=True):
            show(letter)
            assert (letter.value() or b"").decode() == text
        assert count(written) == len(GOOD)


def source(file: Path) -> dict[str, str]:
    """Lines as text, into a topic that is renamed."""
    file.write_text("".join(f"{line}\n" for line in LINES))
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": "raw-levels",
        "transforms": "rename",
        "transforms.rename.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.rename.regex": "raw-(.*)",
        "transforms.rename.replacement": "$1",
    }


def sink(file: Path) -> dict[str, str]:
    """JSON only; the rest is tolerated and set aside."""
    return {
        "connector.class": "FileStreamSink",
        "topics": "levels",
        "file": str(file),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": DEAD,
        "errors.deadletterqueue.context.headers.enable": "true",
    }


def arrived(client: ConnectClient, file: Path) -> bool:
    """Whether all that can be read is written; an error should the sink have stopped over it."""
    raise_if_failed(client, "levels-to-file")
    return count(file) >= len(GOOD)


def count(file: Path) -> int:
    """The lines of a file that may not be there yet."""
    return file.read_text().count("\n") if file.exists() else 0


def show(letter: Message) -> None:
    """A dead letter and why it is one."""
    print(f"  {(letter.value() or b'').decode()}")
    for key, value in dict(letter.headers() or ()).items():
        if key.endswith(".stacktrace"):
            continue
        text = value.decode() if isinstance(value, bytes) else value
        print(f"    {key.removeprefix('__connect.errors.'):<22} {text}")


if __name__ == "__main__":
    main()
