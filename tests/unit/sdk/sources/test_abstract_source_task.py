"""The contract of AbstractSourceTask, with an iterator on its own thread and without one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pytest

from penstock.sdk import (
    AbstractSourceTask,
    Backoff,
    BackoffConfig,
    ConfigDef,
    ConfigError,
    ConfigKey,
    OffsetManagerEntry,
    OffsetManagerKey,
    OffsetReader,
    RecordError,
    RetriableError,
    SchemaAndValue,
    SourceBatch,
    SourceCommonConfig,
    SourceIterator,
    SourceRecord,
    Type,
    UserError,
    record_batch,
    restarting,
)
from waiting import eventually

CONFIG = ConfigDef(ConfigKey("topic"), ConfigKey("size", Type.INT))
PROPS = {"topic": "t", "size": "3", "max.poll.records": "4"}
KEY = OffsetManagerKey({"list": "one"})


class Numbers(SourceIterator):
    """Whatever is in a list, from where its entry stands; more may be appended."""

    def __init__(self, entry: OffsetManagerEntry, values: list[Any]) -> None:
        self.entry, self.values = entry, values
        self.asked = 0
        self.errors: list[BaseException] = []

    def has_next(self) -> bool:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.entry.record_count < len(self.values)

    def __next__(self) -> SourceRecord | SourceBatch:
        value = self.values[self.entry.record_count]
        self.entry.increment_record_count()
        if isinstance(value, pa.RecordBatch):
            return self.entry.source_batch(value)
        return self.entry.source_record("t", None, SchemaAndValue(None, value))


class Threaded(AbstractSourceTask):
    """Reads ``values``; remembers what was called, and by which thread."""

    values: list[Any]

    def __init__(self) -> None:
        self.calls: list[str] = []

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        self.calls.append("configure")
        return SourceCommonConfig(CONFIG, props)

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
        self.calls.append("get_iterator")
        self.thread = threading.current_thread()
        entry = OffsetManagerEntry(KEY)
        known = self.offset_manager.get_entry(KEY, entry.from_properties)
        self.iterator = Numbers(known or entry, self.values)
        return self.iterator

    def close_resources(self) -> None:
        self.calls.append("close_resources")


class Prompt(Threaded):
    """The same on the lease's thread."""

    iterator_is_prompt = True


@pytest.fixture(params=[Threaded, Prompt])
def task(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = request.param()
    made.values = []
    yield made
    made.stop()


def taken(task: AbstractSourceTask, wanted: int) -> list[Any]:
    """So many values, however many polls it takes."""
    values: list[Any] = []

    def enough() -> bool:
        values.extend(values_of(task.poll()))
        return len(values) >= wanted

    eventually(enough)
    return values


def values_of(polled: Any) -> list[Any]:
    if isinstance(polled, SourceBatch):
        return list(polled.records.column("value").to_pylist())
    return [record.value for record in polled or ()]


def test_the_three_methods_are_called_once_in_this_order(task: Any) -> None:
    task.values = [1, 2]
    task.start(PROPS, OffsetReader())
    assert taken(task, 2) == [1, 2]
    list(task.finish())
    task.stop()
    task.stop()
    assert task.calls == ["configure", "get_iterator", "close_resources"]


def test_a_poll_brings_no_more_than_asked_for(task: Any) -> None:
    task.values = list(range(10))
    task.start(PROPS, OffsetReader())
    eventually(lambda: task.offset_manager.get_entry(KEY, dict) or not task.busy)
    sizes: list[int] = []
    while sum(sizes) < 10:
        sizes.append(len(task.poll() or ()))
    assert max(sizes) <= 4


def test_it_goes_on_from_the_offsets_it_is_given(task: Any) -> None:
    task.values = [1, 2, 3]
    task.start(PROPS, OffsetReader([({"list": "one"}, {"recordCount": 2})]))
    assert taken(task, 1) == [3]


def test_an_iterator_may_be_dry_many_times_and_then_go_on(
    task: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sdk.sources.backoff.Backoff.next_delay", lambda self: 0.0)
    task.values = [1]
    task.start(PROPS, OffsetReader())
    assert taken(task, 1) == [1]
    eventually(lambda: task.poll() is None and task.iterator.asked > 5)
    task.values.append(2)
    assert taken(task, 1) == [2]
    assert task.calls.count("get_iterator") == 1


def test_between_two_questions_to_a_dry_iterator_is_never_more_than_5_s(
    task: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []
    real = Backoff.next_delay

    def next_delay(backoff: Backoff) -> float:
        delays.append(real(backoff))
        return 0.0

    monkeypatch.setattr(Backoff, "next_delay", next_delay)
    task.start(PROPS, OffsetReader())
    eventually(lambda: task.poll() is None and len(delays) > 20)
    assert max(delays) <= 5.0
    assert delays[-1] > 4.0


def test_records_and_batches_pass_through_the_same_task_in_order(task: Any) -> None:
    arrow = record_batch("t", pa.array(["a", "b"]))
    task.values = [1, 2, arrow, 3]
    task.start(PROPS, OffsetReader())
    assert taken(task, 5) == [1, 2, "a", "b", 3]


def test_what_was_taken_from_the_iterator_comes_before_the_end(task: Any) -> None:
    task.values = list(range(100))
    task.start(PROPS, OffsetReader())
    polled = taken(task, 1)
    rest = [value for part in task.finish() for value in values_of(part)]
    made = task.iterator.entry.record_count
    assert polled + rest == list(range(made))
    assert made < 100  # the buffer is bounded
    task.stop()
    assert task.iterator.entry.record_count == made
    assert task.poll() is None


def test_an_error_comes_after_the_records_before_it_and_a_retriable_one_is_no_end(
    task: Any,
) -> None:
    task.values = [1]
    task.start(PROPS, OffsetReader())
    assert taken(task, 1) == [1]
    task.iterator.errors.append(RetriableError("the storage is slow"))
    with pytest.raises(RetriableError):
        eventually(task.poll)
    task.values.append(2)
    assert taken(task, 1) == [2]


def test_behind_a_bad_record_that_is_tolerated_the_iterator_goes_on(task: Any) -> None:
    """A new pass finds the state that the error has carried, and not the bad record again."""
    values = [1, "bad", 2]

    def one_pass() -> Iterator[SourceRecord]:
        entry = OffsetManagerEntry(KEY)
        entry = task.offset_manager.get_entry(KEY, entry.from_properties) or entry
        for value in values[entry.record_count :]:
            entry.increment_record_count()
            if value == "bad":
                raise entry.bad_record("no number", b"bad")
            yield entry.source_record("t", None, SchemaAndValue(None, value))

    task.get_iterator = lambda _: restarting(one_pass)
    task.start(PROPS, OffsetReader())
    assert taken(task, 1) == [1]
    with pytest.raises(RecordError) as raised:
        eventually(lambda: task.poll() is not None)
    assert raised.value.data == b"bad"
    assert raised.value.source_offset == {"recordCount": 2}
    assert taken(task, 1) == [2]


def test_any_other_error_reaches_the_worker(task: Any) -> None:
    task.values = [1, 2]
    task.start(PROPS, OffsetReader())
    assert taken(task, 2) == [1, 2]
    task.iterator.errors.append(UserError("the bucket is gone"))
    with pytest.raises(UserError, match="the bucket is gone"):
        eventually(task.poll)


def test_what_would_end_the_iterators_thread_reaches_the_worker(task: Any) -> None:
    """Or it would have no thread any more, and be silent for ever."""
    task.values = []
    task.start(PROPS, OffsetReader())
    task.poll()
    task.iterator.errors = [SystemExit("on request")]
    told: list[BaseException] = []

    def raised() -> bool:
        try:
            task.poll()
        except SystemExit as error:
            told.append(error)
        return bool(told)

    eventually(raised, within=10)


def test_the_manager_knows_what_was_made_and_what_is_committed(task: Any) -> None:
    task.values = [1, 2, 3]
    task.start(PROPS, OffsetReader())
    records: list[SourceRecord] = []

    def all_three() -> bool:
        records.extend(task.poll() or ())
        return len(records) == 3

    eventually(all_three)
    assert task.offset_manager.get_entry(KEY, dict) == {"recordCount": 3}
    task.committed([(records[1].source_partition, records[1].source_offset)])
    assert task.offset_manager.get_entry(KEY, dict) == {"recordCount": 3}
    task.offset_manager.remove(KEY)
    assert task.offset_manager.get_entry(KEY, dict) == {"recordCount": 2}


def test_every_missing_or_invalid_key_is_named(task: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        task.start({"size": "large", "max.poll.records": "0"}, OffsetReader())
    for key in ("topic", "size", "max.poll.records"):
        assert key in str(refused.value)
    task.stop()
    assert task.calls == ["configure", "close_resources"]


def test_a_single_wrong_key_is_the_errors_key(task: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        task.start({"topic": "t"}, OffsetReader())
    assert refused.value.key == "size"


def test_what_closing_raises_is_logged(task: Any, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("gone already")

    task.close_resources = fail
    task.start(PROPS, OffsetReader())
    caplog.set_level(logging.WARNING)
    task.stop()
    assert "gone already" in caplog.text


@pytest.mark.parametrize("name", ["start", "poll", "finish", "committed", "stop"])
def test_the_frameworks_methods_are_final(name: str) -> None:
    with pytest.raises(TypeError, match=f"defines {name}"):
        type("Mine", (Threaded,), {name: lambda self: None})


def test_an_iterator_that_blocks_keeps_nothing_from_ending() -> None:
    closed, blocked = threading.Event(), threading.Event()

    class Blocking(Threaded):
        def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
            entry = OffsetManagerEntry(KEY)
            entry.increment_record_count()
            yield entry.source_record("t", None, SchemaAndValue(None, "first"))
            blocked.set()
            closed.wait()

        def close_resources(self) -> None:
            closed.set()

    task = Blocking()
    task.start(PROPS, OffsetReader())
    assert taken(task, 1) == ["first"]
    eventually(blocked.is_set)
    assert task.poll() is None
    assert task.busy  # so the lease does not count the source as dry
    assert list(task.finish()) == []
    task.stop()
    assert closed.is_set()


def test_a_dry_task_is_not_busy(task: Any) -> None:
    task.start(PROPS, OffsetReader())
    eventually(lambda: task.poll() is None and not task.busy)


def test_a_generator_that_has_ended_stays_ended_and_the_helper_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.sdk.sources.backoff.Backoff.next_delay", lambda self: 0.0)

    class OnePass(Prompt):
        def one_pass(self) -> Iterator[SourceRecord]:
            entry = OffsetManagerEntry(KEY)
            entry = self.offset_manager.get_entry(KEY, entry.from_properties) or entry
            for value in self.values[entry.record_count :]:
                entry.increment_record_count()
                yield entry.source_record("t", None, SchemaAndValue(None, value))

        def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
            return self.one_pass()

    class Again(OnePass):
        def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Any]:
            return restarting(self.one_pass)

    for kind, expected in ((OnePass, []), (Again, [2])):
        task = kind()
        task.values = [1]
        task.start(PROPS, OffsetReader())
        assert taken(task, 1) == [1]
        assert task.poll() is None
        task.values.append(2)
        assert [v for _ in range(4) for v in values_of(task.poll())] == expected
        task.stop()


def test_large_values_count_by_their_size() -> None:
    """One at a time, not ``max.poll.records`` of them: memory is bounded."""
    task = Threaded()
    task.values = [b"x" * (5 << 20)] * 20
    task.start({**PROPS, "max.poll.records": "500"}, OffsetReader())
    first = taken(task, 1)
    rest = [value for part in task.finish() for value in values_of(part)]
    task.stop()
    assert len(first) == 1
    assert len(rest) <= 2
