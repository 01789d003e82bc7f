"""The system tells of changed files."""

from __future__ import annotations

import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.plugins.files import file_events, file_system
from penstock.plugins.files.file_events import FileBell, FileEvents
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.offsets import OffsetReader
from waiting import eventually

WITHIN = 10.0
PAUSES = "PAUSE_MILLISECONDS"
PROC = 0x9FA0


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileEvents]:
    """Events whose thread ends soon, on a file system that counts as one that tells."""
    monkeypatch.setattr(file_events, PAUSES, 20)
    monkeypatch.setattr(file_events, "tells_changes", lambda _path: True)
    events = FileEvents()
    yield events
    for watch, rings in list(events._armed.items()):
        for ring in list(rings):
            events.disarm(watch, ring)
    eventually(lambda: events._descriptor is None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "in.txt"
    file.write_text("")
    return file


def append(file: Path, text: str) -> None:
    with file.open("a") as lines:
        lines.write(text)


def test_it_rings_once_for_the_next_change(events: FileEvents, file: Path) -> None:
    rung = threading.Semaphore(0)
    watch = events.arm(str(file), rung.release)
    assert watch is not None
    assert events.armed(watch, rung.release)
    append(file, "a line\n")
    assert rung.acquire(timeout=WITHIN)
    assert not events.armed(watch, rung.release)
    append(file, "another\n")
    other = threading.Event()
    events.arm(str(file), other.set)
    append(file, "and one more\n")
    assert other.wait(WITHIN)
    assert not rung.acquire(blocking=False)


@pytest.mark.parametrize("change", ["truncated", "moved", "deleted", "replaced"])
def test_whatever_happens_to_the_file_is_a_change(
    events: FileEvents, file: Path, change: str
) -> None:
    file.write_text("a line\n")
    rung = threading.Event()
    assert events.arm(str(file), rung.set) is not None
    if change == "truncated":
        file.write_text("")
    elif change == "moved":
        file.rename(file.with_suffix(".1"))
    elif change == "deleted":
        file.unlink()
    else:
        (other := file.with_suffix(".new")).write_text("x\n")
        other.rename(file)
    assert rung.wait(WITHIN)


def test_several_may_wait_for_one_file(events: FileEvents, file: Path) -> None:
    first, second, third = threading.Event(), threading.Event(), threading.Event()
    watches = {events.arm(str(file), each.set) for each in (first, second, third)}
    [watch] = watches
    assert watch is not None
    events.disarm(watch, second.set)
    append(file, "a line\n")
    assert first.wait(WITHIN)
    assert third.wait(WITHIN)
    assert not second.is_set()


def test_a_file_that_is_not_there_is_not_watched(events: FileEvents, tmp_path: Path) -> None:
    assert events.arm(str(tmp_path / "none.txt"), lambda: None) is None


def test_more_events_than_the_system_keeps_ring_for_all(events: FileEvents, file: Path) -> None:
    rung = threading.Event()
    assert events.arm(str(file), rung.set) is not None
    events._ring({-1})
    assert rung.is_set()


def test_its_thread_ends_when_nothing_is_waited_for_and_comes_back(
    events: FileEvents, file: Path
) -> None:
    for _ in range(2):
        rung = threading.Event()
        assert events.arm(str(file), rung.set) is not None
        append(file, "a line\n")
        assert rung.wait(WITHIN)
        eventually(lambda: events._descriptor is None)


class Listened:
    """A poll that tells when there is nothing to hear of just now."""

    def __init__(self) -> None:
        self.quiet = threading.Event()
        self._poll = select.poll()
        self.register = self._poll.register

    def poll(self, milliseconds: int) -> list[tuple[int, int]]:
        if heard := self._poll.poll(0):
            return heard
        self.quiet.set()
        return self._poll.poll(milliseconds)


def test_its_thread_stays_while_there_is_something_to_hear_of(
    events: FileEvents, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To end and to start it for every few lines of a file would cost more than the lines."""
    listened = Listened()
    with monkeypatch.context() as patched:
        patched.setattr(file_events, PAUSES, 2000)
        patched.setattr(select, "poll", lambda: listened)
        for _ in range(5):
            assert events.arm(str(file), lambda: None) is not None
            assert listened.quiet.wait(WITHIN)
            listened.quiet.clear()
            append(file, "a line\n")
            assert listened.quiet.wait(WITHIN)
            assert events._descriptor is not None


def test_a_bell_costs_nothing_until_it_has_rung(events: FileEvents, file: Path) -> None:
    bell, rung = FileBell(str(file), events), threading.Event()
    assert not bell.armed
    assert bell.arm(rung.set)
    known = bell._rung
    assert bell.arm(rung.set)
    assert bell._rung == known
    append(file, "a line\n")
    assert rung.wait(WITHIN)
    assert not bell.armed
    assert bell.arm(rung.set)
    bell.close()
    assert not events._armed


def test_a_number_that_another_file_has_now_is_no_watch(
    events: FileEvents, file: Path, tmp_path: Path
) -> None:
    bell, rung = FileBell(str(file), events), threading.Event()
    assert bell.arm(rung.set)
    known = bell._rung
    append(file, "a line\n")
    assert rung.wait(WITHIN)
    eventually(lambda: events._descriptor is None)  # its numbers begin again
    (other := tmp_path / "other.txt").write_text("")
    watch = events.arm(str(other), threading.Event().set)
    assert known is not None
    assert watch == known[0]
    rung.clear()
    assert not bell.armed
    assert bell.arm(rung.set)
    append(file, "another\n")
    assert rung.wait(WITHIN)


def test_where_the_system_does_not_tell_nothing_is_relied_on(
    events: FileEvents, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_events, "tells_changes", lambda _path: False)
    assert not FileBell(str(file), events).arm(lambda: None)


@pytest.fixture
def shared(events: FileEvents, monkeypatch: pytest.MonkeyPatch) -> FileEvents:
    """The same events for the connector and the task."""
    monkeypatch.setattr(file_events, "EVENTS", events)
    return events


def config(file: Path) -> dict[str, str]:
    return {"file": str(file), "topic": "t"}


def test_a_task_at_its_end_is_woken_by_a_line(shared: FileEvents, file: Path) -> None:
    task, woken = FileStreamSourceTask(), threading.Event()
    task.start(config(file), OffsetReader())
    try:
        assert task.poll() is None
        assert task.wake_on_news(woken.set)
        append(file, "a line\n")
        assert woken.wait(WITHIN)
        assert not task.wake_on_news(woken.set)  # there is news: it has to be polled first
        assert task.poll() is not None
        assert task.poll() is None
        assert task.wake_on_news(woken.set)
    finally:
        task.stop()
    assert not shared._armed


def test_a_task_whose_file_is_missing_has_to_be_asked(shared: FileEvents, tmp_path: Path) -> None:
    task = FileStreamSourceTask()
    task.start(config(tmp_path / "none.txt"), OffsetReader())
    assert task.poll() is None
    assert not task.wake_on_news(lambda: None)
    task.stop()


def test_an_idle_connector_is_woken_by_a_line(shared: FileEvents, file: Path) -> None:
    connector, wakes = FileStreamSourceConnector(), threading.Semaphore(0)
    connector.start(config(file))
    assert connector.look(OffsetReader()) is False
    connector.wake_on_news(wakes.release)
    assert wakes.acquire(blocking=False)  # it may have changed between the two calls
    connector.wake_on_news(wakes.release)
    assert not wakes.acquire(blocking=False)
    append(file, "a line\n")
    assert wakes.acquire(timeout=WITHIN)
    assert connector.look(OffsetReader()) is True
    connector.wake_on_news(wakes.release)
    connector.stop()
    assert not shared._armed


def test_the_files_of_a_pattern_are_looked_at(shared: FileEvents, file: Path) -> None:
    connector = FileStreamSourceConnector()
    connector.start({"file.glob": str(file.parent / "*.txt"), "topic": "t"})
    connector.wake_on_news(lambda: pytest.fail("nothing is watched"))
    assert not shared._armed
    connector.stop()


def test_a_file_system_of_this_machine_tells_and_what_is_not_there_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds = file_system.LOCAL
    monkeypatch.setattr(file_system, "LOCAL", frozenset())
    assert not file_system.tells_changes("/proc/self/stat")
    monkeypatch.setattr(file_system, "LOCAL", kinds | {PROC})
    assert file_system.tells_changes("/proc/self/stat")
    assert not file_system.tells_changes(str(tmp_path / "none"))
