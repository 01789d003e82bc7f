"""Records that a sink could not handle."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pyarrow as pa
import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.dead_letters import HEADER_LIMIT, DeadLetters
from penstock.engine.lease.lease import Limits, Membership, SinkLease, Tolerance
from penstock.engine.lease.sink_lease import _wanted
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.stage_error import StageError, at_stage
from penstock.kafka.clients import Connection
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.sdk.batches import HEADERS
from penstock.sdk.errors import FatalError, RecordError

LEASE = SinkLease(
    lease_id="lease",
    previous=None,
    connector="orders",
    task=3,
    config={},
    pipeline=Pipeline(StringConverter(), StringConverter()),
    connection=Connection("nowhere:1"),
    transactional_id="cluster-orders-3",
    membership=Membership(b"", "workers"),
    limits=Limits(),
    secrets=("hunter2",),
    producer_settings={},
    task_class=FileStreamSinkTask,
    group="connect-orders",
    group_metadata=b"",
    assignments=(),
    copy_topic="workers",
)
RAW = pa.RecordBatch.from_pydict(
    {
        "topic": pa.array(["t", "t"]),
        "partition": pa.array([4, 4], pa.int32()),
        "key": pa.array([b"k0", None], pa.binary()),
        "value": pa.array([b"\xff\x00", None], pa.binary()),
        "timestamp": pa.array([1, 2], pa.int64()),
        "headers": pa.array(
            [[{"key": "h", "value": b"\xfe"}, {"key": "n", "value": None}], None], HEADERS
        ),
        "offset": pa.array([41, 42], pa.int64()),
    }
)


def failed(text: str) -> StageError:
    return StageError(RecordError(text), "VALUE_CONVERTER", StringConverter)


def letters(**tolerance: object) -> DeadLetters:
    return DeadLetters(replace(LEASE, tolerance=Tolerance(**tolerance)))  # type: ignore[arg-type]  # of many types


def test_without_tolerance_the_first_bad_record_is_fatal() -> None:
    with pytest.raises(FatalError) as fatal:
        letters().take(RAW, 1, failed("not JSON"))
    text = str(fatal.value)
    assert text.startswith("Tolerance exceeded in error handler: record t-4 at offset 42: not JSON")
    assert "errors.tolerance=all" in text


def test_tolerated_records_are_counted_and_skipped() -> None:
    dead = letters(all_errors=True)
    dead.take(RAW, 0, failed("bad"))
    dead.take(RAW, 1, failed("bad"))
    assert len(dead) == 2
    assert list(dead.take_letters()) == []


def test_a_dead_letter_is_the_record_as_it_was() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead")
    dead.take(RAW, 0, failed("bad"))
    dead.take(RAW, 1, failed("bad"))
    assert list(dead.take_letters()) == [
        ("dead", b"\xff\x00", b"k0", [("h", b"\xfe"), ("n", None)], 1),
        ("dead", None, None, [], 2),
    ]


def test_context_headers_say_what_went_wrong_and_no_secret() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=True)
    dead.take(RAW, 0, failed("hunter2 is no number"))
    [(_, _, _, headers, _)] = dead.take_letters()
    assert headers[:2] == [("h", b"\xfe"), ("n", None)]
    context = {key.removeprefix("__connect.errors."): value for key, value in headers[2:]}
    assert context == {
        "topic": b"t",
        "partition": b"4",
        "offset": b"41",
        "connector.name": b"orders",
        "task.id": b"3",
        "stage": b"VALUE_CONVERTER",
        "class.name": b"org.apache.kafka.connect.storage.StringConverter",
        "exception.class.name": b"RecordError",
        "exception.message": b"[hidden] is no number",
        "exception.stacktrace": b"penstock.sdk.errors.RecordError: [hidden] is no number\n",
    }
    assert all(key.startswith("__connect.errors.") for key, _ in headers[2:])


def test_context_headers_are_cut_to_a_length() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=True)
    dead.take(RAW, 0, failed("x" * (3 * HEADER_LIMIT)))
    [(_, _, _, headers, _)] = dead.take_letters()
    assert max(len(value or b"") for _, value in headers) == HEADER_LIMIT


def test_the_stack_trace_says_where_and_its_end_is_kept() -> None:
    """Also that of an error which the step was given by something else."""

    def parse() -> None:
        raise ValueError("y" * HEADER_LIMIT)

    def convert() -> None:
        try:
            parse()
        except ValueError as error:
            raise RecordError("hunter2 is no number") from error

    with pytest.raises(StageError) as raised, at_stage("VALUE_CONVERTER", StringConverter()):
        convert()
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=True)
    dead.take(RAW, 0, raised.value)
    [(_, _, _, headers, _)] = dead.take_letters()
    trace = dict(headers)["__connect.errors.exception.stacktrace"] or b""
    assert len(trace) == HEADER_LIMIT
    assert b"yyy" in trace
    assert b"in convert\n" in trace
    assert trace.endswith(b"RecordError: [hidden] is no number\n")


@pytest.mark.parametrize(
    ("timestamp", "sent"),
    [(None, 0), (-1, 0), (1_700_000_000_000, 1_700_000_000_000), (1 << 62, 0)],
)
def test_a_timestamp_that_a_broker_would_refuse_is_not_sent(
    timestamp: int | None, sent: int
) -> None:
    column = RAW.schema.get_field_index("timestamp")
    raw = RAW.set_column(column, "timestamp", pa.array([timestamp, 2], pa.int64()))
    dead = letters(all_errors=True, dead_letter_topic="dead")
    dead.take(raw, 0, failed("bad"))
    assert dead.take_letters()[0][-1] == sent


def test_a_header_is_not_cut_within_a_character() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=True)
    for shift in ("", "x"):
        dead.take(RAW, 1, failed(shift + "ü" * HEADER_LIMIT))
    for _, _, _, headers, _ in dead.take_letters():
        assert all((value or b"").decode() for _, value in headers)


def test_a_text_that_cannot_be_encoded_does_not_stop_the_connector() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=True)
    dead.take(RAW, 0, failed("a lone surrogate: \ud800"))
    assert len(list(dead.take_letters())) == 1


def test_what_only_a_dead_letter_needs_is_read_where_there_are_some() -> None:
    for topic, needed in (("", False), ("dead", True)):
        lease = replace(LEASE, tolerance=Tolerance(all_errors=True, dead_letter_topic=topic))
        wanted = _wanted(lease)
        assert (wanted["headers"], wanted["timestamps"]) == (needed, needed)


@pytest.mark.parametrize("tolerated", [True, False])
def test_a_line_in_the_log_if_wanted(caplog: pytest.LogCaptureFixture, tolerated: bool) -> None:
    """In Kafka Connect's words, whether the record is then skipped or not."""
    head = (
        "Error encountered in task orders-3. Executing stage 'VALUE_CONVERTER' with class "
        "'org.apache.kafka.connect.storage.StringConverter'"
    )
    where = (
        ", where consumed record is {'topic': 't', 'partition': 4, 'offset': 42, 'timestamp': 2}"
    )
    for options, line in (
        ({}, []),
        ({"log_errors": True}, [f"{head}. RecordError: bad"]),
        ({"log_errors": True, "log_messages": True}, [f"{head}{where}. RecordError: bad"]),
    ):
        caplog.clear()
        with suppress(FatalError):
            letters(all_errors=tolerated, **options).take(RAW, 1, failed("bad"))
        assert [record.getMessage() for record in caplog.records] == line


def test_the_size_of_letters_is_that_of_those_which_nobody_took() -> None:
    dead = letters(all_errors=True, dead_letter_topic="dead", context_headers=False)
    dead.take(RAW, 0, failed("bad"))
    assert dead.waiting_bytes == len(b"k0" + b"\xff\x00" + b"\xfe")
    dead.take_letters()
    assert dead.waiting_bytes == 0
