"""Files that grow all the time, the sources that read them, and the sinks that write them again."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LINE_BYTES = 100
LINES = 5
PAUSE_SECONDS = 0.1
"""Every source gets so many lines after each pause: 50 a second."""


@dataclass(frozen=True)
class Source:
    """A file source and its topic."""

    name: str
    topic: str
    partitions: int = 1


@dataclass(frozen=True)
class Sink:
    """A file sink and the sources whose topics it reads."""

    name: str
    sources: tuple[str, ...]


SOURCES = (
    Source("src-a", "topic-a"),
    Source("src-b", "topic-b"),
    Source("src-c", "topic-c", partitions=2),
)
SINKS = (
    Sink("sink-a", ("src-a",)),
    Sink("sink-ab", ("src-a", "src-b")),
    Sink("sink-c", ("src-c",)),
)
NAMES = tuple(each.name for each in (*SOURCES, *SINKS))


def line_of(source: str, number: int) -> str:
    """A line that says where it belongs; all are of one length."""
    return f"{source}-{number:08d} ".ljust(LINE_BYTES - 1, "x")


def number_of(position: int) -> int:
    """The line that begins at a position of a file."""
    if position % LINE_BYTES:
        raise ValueError(f"No line begins at byte {position}, for all have {LINE_BYTES}.")
    return position // LINE_BYTES


class Load:
    """Lets the files in ``folder`` grow while it is in a with statement and not at rest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.written = 0
        """How many lines each source's file has, at least."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._grow, name="load", daemon=True)
        for source in SOURCES:
            self.file(source.name).touch()

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()

    def rest(self) -> None:
        """Write no more."""
        self._stop.set()
        self._thread.join()

    def file(self, name: str) -> Path:
        """The file that a connector reads or writes."""
        return self._folder / f"{name}.txt"

    def configs(self) -> Mapping[str, dict[str, str]]:
        """The configuration of every connector, by name."""
        sources = {
            each.name: {
                "connector.class": "FileStreamSource",
                "tasks.max": "1",
                "file": str(self.file(each.name)),
                "topic": each.topic,
            }
            for each in SOURCES
        }
        return {**sources, **{each.name: self._sink(each) for each in SINKS}}

    def _sink(self, sink: Sink) -> dict[str, str]:
        topics = [each.topic for each in SOURCES if each.name in sink.sources]
        return {
            "connector.class": "FileStreamSink",
            "tasks.max": "1",
            "topics": ",".join(topics),
            "file": str(self.file(sink.name)),
        }

    def _grow(self) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            numbers = range(self.written, self.written + LINES)
            for source in SOURCES:
                with self.file(source.name).open("a") as out:
                    out.writelines(f"{line_of(source.name, number)}\n" for number in numbers)
            self.written += LINES
