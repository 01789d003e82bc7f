"""A sink's bad record that is not tolerated: all before it is committed, then the task fails."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.number_converters import (
    BooleanConverter,
    DoubleConverter,
    FloatConverter,
    IntegerConverter,
    LongConverter,
    NumberConverter,
    ShortConverter,
)
from penstock.columnar.plain_converters import ByteArrayConverter, StringConverter
from penstock.engine.lease import topic_reader
from penstock.engine.lease.heartbeats import Heartbeat, Progress
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.lost_leases import Interrupted
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.topic_reader import TopicReader
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import LeaseLost
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.registry.avro_converter import AvroConverter
from penstock.registry.json_schema_converter import JsonSchemaConverter
from penstock.registry.wire import header
from penstock.sdk.batches import record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter
from penstock.sdk.errors import FatalError, RecordError, RetriableError, UserError
from penstock.sdk.tasks import SinkTask
from penstock.sdk.transforms import Transform
from played_registry import Played

FIRST = 100
"""The offset of the first record."""
ROWS = 5
ID = 5
"""Of the one schema that the registry has."""
PLACES = pytest.mark.parametrize("bad", [0, 2, ROWS - 1], ids=["first", "middle", "last"])


class Refusing(Transform):
    """Refuses the value ``bad``."""

    connect_class: ClassVar[str] = "Refusing"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str]) -> None:
        """Nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        refuse_bad(batch)
        return batch


class RefusingSinkTask(FileStreamSinkTask):
    """A file sink that refuses the value ``bad``."""

    def put(self, batch: pa.RecordBatch) -> None:
        refuse_bad(batch)
        super().put(batch)


def refuse_bad(batch: pa.RecordBatch) -> None:
    for row, value in enumerate(batch.column("value").to_pylist()):
        if value in ("bad", b"bad", '"bad"'):
            raise RecordError("refused", row=row)


def converter(cls: type[Converter], **config: str) -> Converter:
    made = cls()
    made.configure(config, is_key=False)
    return made


def text(number: int) -> bytes:
    return b"%d" % number


def enveloped(number: int) -> bytes:
    return json.dumps({"schema": {"type": "int32"}, "payload": number}).encode()


def as_number(cls: type[NumberConverter]) -> Callable[[int], bytes]:
    return lambda number: struct.pack(FORMATS[cls], number)


FORMATS: dict[type[NumberConverter], str] = {
    BooleanConverter: ">?",
    ShortConverter: ">h",
    IntegerConverter: ">i",
    LongConverter: ">q",
    FloatConverter: ">f",
    DoubleConverter: ">d",
}
SCHEMALESS = converter(JsonConverter, **{"schemas.enable": "false"})
CONVERTERS: dict[str, tuple[Converter, Callable[[int], bytes], bytes]] = {
    "JSON": (SCHEMALESS, text, b"{nonsense"),
    "JSON with schemas": (converter(JsonConverter), enveloped, b"{nonsense"),
    "JSON without its schema": (converter(JsonConverter), enveloped, b"7"),
    **{cls.__name__: (converter(cls), as_number(cls), b"bad") for cls in FORMATS},
}
"""Those that can refuse bytes. As in Java, every text is a string to StringConverter, what is not
UTF-8 in part U+FFFD, and ByteArrayConverter takes all there is."""
TAKE_ALL = {"string": converter(StringConverter), "bytes": converter(ByteArrayConverter)}
SOURCES = [
    *(pytest.param(*parts, FileStreamSinkTask, False, id=k) for k, parts in CONVERTERS.items()),
    *(
        pytest.param(each, text, b"bad", FileStreamSinkTask, True, id=f"{k}, transform")
        for k, each in TAKE_ALL.items()
    ),
    *(
        pytest.param(each, text, b"bad", RefusingSinkTask, False, id=f"{k}, put")
        for k, each in TAKE_ALL.items()
    ),
]


def raw(values: Sequence[bytes], topic: str = "t", first: int = FIRST) -> pa.RecordBatch:
    rows = len(values)
    return record_batch(
        topic,
        pa.array(values, pa.binary()),
        key=pa.nulls(rows, pa.binary()),
        partition=pa.array([0] * rows, pa.int32()),
        offset=pa.array(range(first, first + rows), pa.int64()),
    )


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Readers whose every read returns what a test says, then nothing."""
    made: list[TopicReader] = []

    def begin(*script: list[pa.RecordBatch]) -> TopicReader:
        left = iter(script)
        source = Mock(take=lambda _most, _patience: (next(left, []), []))
        monkeypatch.setattr(topic_reader, "column_source", lambda *_, **__: source)
        made.append(TopicReader(Mock(), {("t", 0): FIRST, ("u", 0): 0}))
        return made[-1]

    yield begin
    for reader in made:
        reader.close()


def loop(
    pipeline: Pipeline, *, orphaned: bool = False, tolerance: Tolerance | None = None
) -> SinkLoop:
    lease: Any = Mock(
        limits=Limits(transaction_seconds=1000.0),
        tolerance=tolerance or Tolerance(),
        consumer_settings={},
        pipeline=pipeline,
        secrets=(),
        connector="orders",
        group="connect-orders",
        membership=Membership(b"", "workers"),
        topic_ids={},
        assignments=(),
        pace=Pace(),
    )
    heartbeat = Mock(over=False, progress=Progress(), leases=lambda: 1, standing=lambda: None)
    heartbeat.orphaned.is_set.return_value = orphaned
    made = SinkLoop(lease, heartbeat)
    made._producer = Mock()
    return made


def positions(running: SinkLoop) -> dict[tuple[str, int], int]:
    """What is committed when the lease ends."""
    return {p: end for p, (end, _) in running._outcome()["sink_positions"].items()}


@pytest.fixture
def file_sink(tmp_path: Path) -> Iterator[Callable[[type[SinkTask]], SinkTask]]:
    made: list[SinkTask] = []

    def begin(cls: type[SinkTask]) -> SinkTask:
        made.append(cls())
        made[-1].start({"file": str(tmp_path / "out.txt")})
        return made[-1]

    yield begin
    for task in made:
        task.stop()


def in_file(value: Converter, numbers: range) -> list[str]:
    """The lines of a file sink, as Java writes such values."""
    if isinstance(value, BooleanConverter):
        return ["true" if number else "false" for number in numbers]
    if isinstance(value, FloatConverter | DoubleConverter):
        return [f"{number}.0" for number in numbers]
    return [str(number) for number in numbers]


Check = Callable[..., None]


@pytest.fixture
def check(reads: Any, file_sink: Any, tmp_path: Path) -> Check:
    """Reads five records of which one is bad, and looks at the target and at what is committed."""

    def check(
        value: Converter,
        good: Callable[[int], bytes],
        nonsense: bytes,
        bad: int,
        sink: type[SinkTask] = FileStreamSinkTask,
        transformed: bool = False,
    ) -> None:
        values = [good(number) for number in range(ROWS)]
        values[bad] = nonsense
        pipeline = Pipeline(TAKE_ALL["string"], value, [Refusing()] if transformed else [])
        running = loop(pipeline)
        later = [good(number) for number in range(3)]
        reader = reads([raw(later, "u", 0)], [raw(values), raw(later, "u", 3)])
        with pytest.raises(FatalError) as failed:
            running._read_until_over(file_sink(sink), reader)

        message = str(failed.value)
        assert f"record t-0 at offset {FIRST + bad}: " in message
        assert f"alter its offset of t-0 to {FIRST + bad + 1} and resume it" in message
        assert "All records before it are committed" in message
        assert running._outcome()["uncommitted"] == ()
        before = {("t", 0): FIRST + bad} if bad else {}
        assert positions(running) == {**before, ("u", 0): 3}
        assert (running._progress.records, running._progress.bad_records) == (3 + bad, 1)
        lines = (tmp_path / "out.txt").read_text().split()
        assert lines == [*in_file(value, range(3)), *in_file(value, range(bad))]

    return check


@PLACES
@pytest.mark.parametrize(("value", "good", "nonsense", "sink", "transformed"), SOURCES)
def test_the_target_has_what_is_committed_and_that_is_all_before_the_bad_one(
    check: Check,
    value: Converter,
    good: Callable[[int], bytes],
    nonsense: bytes,
    sink: type[SinkTask],
    transformed: bool,
    bad: int,
) -> None:
    check(value, good, nonsense, bad, sink, transformed)


def zigzag(number: int) -> bytes:
    return header(ID) + bytes([2 * number])


@PLACES
@pytest.mark.parametrize(
    ("cls", "schema", "good"),
    [
        (AvroConverter, {"schema": '"int"'}, zigzag),
        (
            JsonSchemaConverter,
            {"schema": '{"type":"integer","connect.type":"int32"}', "schemaType": "JSON"},
            lambda number: header(ID) + text(number),
        ),
    ],
)
@pytest.mark.parametrize("nonsense", [b"7", header(ID)], ids=["no id", "cut off"])
def test_with_a_schema_registry_too(
    check: Check,
    cls: type[Converter],
    schema: dict[str, str],
    good: Callable[[int], bytes],
    nonsense: bytes,
    bad: int,
) -> None:
    registry = Played()
    registry.answer = 200, schema
    with registry.serving() as url:
        check(converter(cls, **{"schema.registry.url": url}), good, nonsense, bad)


def test_no_converter_is_left_out() -> None:
    registered = {AvroConverter, JsonSchemaConverter}
    tried = {type(value) for value, _, _ in CONVERTERS.values()} | {*map(type, TAKE_ALL.values())}
    ours = {point.load() for point in entry_points(group="penstock.converters")}
    assert {each for each in ours if each.__module__.startswith("penstock")} == tried | registered


def test_of_two_bad_records_the_first_is_named(reads: Any, file_sink: Any) -> None:
    """The converter sees another one before the task refuses this one."""
    running = loop(Pipeline(TAKE_ALL["string"], SCHEMALESS))
    values = [b"1", b'"bad"', b"3", b"{nonsense", b"{nonsense"]
    with pytest.raises(FatalError, match=f"t-0 at offset {FIRST + 1}: refused"):
        running._read_until_over(file_sink(RefusingSinkTask), reads([raw(values)]))
    assert positions(running) == {("t", 0): FIRST + 1}


def test_an_error_that_names_no_record_leaves_its_batch_out(reads: Any, file_sink: Any) -> None:
    broken = Mock(spec=StringConverter)
    broken.decode.side_effect = [TAKE_ALL["string"].decode(pa.array([b"1"])), KeyError("defect")]
    running = loop(Pipeline(TAKE_ALL["string"], broken))
    reader = reads([raw([b"1"]), raw([b"2"], first=FIRST + 1)])
    with pytest.raises(KeyError, match="defect"):
        running._read_until_over(file_sink(FileStreamSinkTask), reader)
    assert positions(running) == {("t", 0): FIRST + 1}


def test_an_orphan_commits_nothing(reads: Any, file_sink: Any) -> None:
    running = loop(Pipeline(TAKE_ALL["string"], SCHEMALESS), orphaned=True)
    with pytest.raises(LeaseLost):
        running._read_until_over(file_sink(FileStreamSinkTask), reads([raw([b"1", b"{nonsense"])]))
    assert positions(running) == {}


def test_what_was_put_before_the_task_broke_is_reported(reads: Any) -> None:
    """Of an error that names no record it is unknown what was written: nothing is committed."""
    task = Mock()
    task.put.side_effect = [None, None, UserError("the disk is full")]
    running = loop(Pipeline(TAKE_ALL["string"], TAKE_ALL["string"]))
    reader = reads([raw([b"0", b"1"])], [raw([b"2"], "u", 0), raw([b"3"], first=FIRST + 2)])
    with pytest.raises(UserError):
        running._read_until_over(task, reader)
    assert positions(running) == {}
    put = (("t", 0, FIRST, FIRST + 2), ("u", 0, 0, 1))
    assert running._outcome()["uncommitted"] == put


class Counting(RefusingSinkTask):
    """Counts the rows that it looks at."""

    rows = 0

    def put(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        super().put(batch)


@pytest.mark.parametrize("value", ["string", "JSON"])
def test_many_bad_records_do_not_cost_their_square(
    reads: Any, file_sink: Any, tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused by the task, or by the converter."""
    decoded: list[int] = []
    by_task = value == "string"
    chosen = TAKE_ALL["string"] if by_task else SCHEMALESS
    real = Pipeline.decode

    def counting(self: Pipeline, batch: pa.RecordBatch) -> Any:
        decoded.append(batch.num_rows)
        return real(self, batch)

    monkeypatch.setattr(Pipeline, "decode", counting)
    many = 3000
    values = [text(n) if n % 3 else (b"bad" if by_task else b"{nonsense") for n in range(many)]
    running = loop(Pipeline(TAKE_ALL["string"], chosen), tolerance=Tolerance(all_errors=True))
    monkeypatch.setattr(running, "_over", iter([False, False, True]).__next__)
    task = file_sink(Counting)
    running._read_until_over(task, reads([raw(values)]))
    good = [str(n) for n in range(many) if n % 3]
    assert (tmp_path / "out.txt").read_text().split() == good
    assert len(running._dead) == many // 3
    assert positions(running) == {("t", 0): FIRST + many}
    assert sum(decoded) + task.rows <= 6 * many


@pytest.mark.parametrize("call", ["put", "flush"])
def test_a_sink_that_waits_for_its_target_ends_with_its_lease(reads: Any, call: str) -> None:
    """Otherwise its worker would take it for one that hangs, and fail its task."""
    task = Mock(flush=lambda: "")
    setattr(task, call, Mock(side_effect=RetriableError("down", retry_after=3600.0)))
    running = loop(Pipeline(TAKE_ALL["string"], TAKE_ALL["string"]))
    running._heartbeat = Heartbeat()
    running._until = time.monotonic() + 0.2
    with pytest.raises(Interrupted, match="told to finish while retrying: down"):
        running._read_until_over(task, reads([raw([b"1"])]))
    assert positions(running) == {}
    assert getattr(task, call).call_count >= 2
