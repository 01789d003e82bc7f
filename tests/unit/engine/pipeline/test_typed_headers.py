"""Values of headers by a header converter: typed text in a batch, something else in the topic."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.number_converters import IntegerConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.stage_error import StageError
from penstock.engine.pipeline.typed_headers import TypedHeaders
from penstock.sdk import Converter, SourceRecord, pack, record_batch
from penstock.sdk.batches import HEADERS

TYPED: list[list[tuple[str, Any]]] = [
    [("n", 5), ("big", 1 << 40), ("t", True), ("s", "text"), ("f", 1.5)],
    [],
    [("list", [1, 2]), ("map", {"a": "b"}), ("none", None)],
    [("n", 5), ("raw", b"\xff\x00")],
]


def pipeline(header: Converter, **config: str) -> Pipeline:
    text = StringConverter()
    text.configure({}, is_key=False)
    header.configure(config, is_key=False)
    made: Pipeline = pickle.loads(  # noqa: S301 (our own)
        pickle.dumps(Pipeline(text, text, headers=TypedHeaders(header)))
    )
    return made


def source(headers: list[list[tuple[str, Any]]]) -> pa.RecordBatch:
    (batch,) = pack([SourceRecord({}, {}, "t", "v", headers=each) for each in headers])
    return batch.records


def pairs(headers: pa.Array) -> list[list[tuple[str, bytes | None]]]:
    return [[(h["key"], h["value"]) for h in row or ()] for row in headers.to_pylist()]


def raw(headers: list[list[tuple[str, bytes | None]]]) -> pa.RecordBatch:
    rows = len(headers)
    made = [[{"key": k, "value": v} for k, v in row] or None for row in headers]
    return record_batch(
        "t",
        pa.array([b"v"] * rows),
        headers=pa.array(made, HEADERS),
        offset=pa.array(range(rows), pa.int64()),
        partition=pa.array([0] * rows, pa.int32()),
    )


@pytest.mark.parametrize("enable", ["true", "false"])
def test_json_there_and_back(enable: str) -> None:
    both = pipeline(JsonConverter(), **{"schemas.enable": enable})
    batch = source(TYPED)
    written = pairs(both.encode(batch).batch.column("headers"))
    if enable == "true":
        number = json.loads(written[0][0][1] or b"")
        assert number == {"schema": {"type": "int8", "optional": False}, "payload": 5}
        assert json.loads(written[0][1][1] or b"")["schema"]["type"] == "int64"
    else:
        assert [data for _, data in written[0]] == [
            b"5",
            b"1099511627776",
            b"true",
            b'"text"',
            b"1.5",
        ]
    assert [name for name, _ in written[2]] == ["list", "map", "none"]
    assert written[2][2] == ("none", None)
    (read,) = both.decode(raw(written))
    expected = pairs(batch.column("headers"))
    if enable == "false":
        expected[3][1] = ("raw", b"/wA=")  # without a schema, bytes are text in JSON
    assert pairs(read.column("headers")) == expected


def test_a_slice_and_no_headers_at_all() -> None:
    both = pipeline(JsonConverter(), **{"schemas.enable": "false"})
    made = both.encode(source(TYPED).slice(2, 2)).batch.column("headers")
    assert pairs(made)[1] == [("n", b"5"), ("raw", b'"/wA="')]
    plain = both.encode(source([[], []])).batch.column("headers")
    assert plain.null_count == 2


def test_an_error_names_its_record() -> None:
    both = pipeline(JsonConverter(), **{"schemas.enable": "false"})
    with pytest.raises(StageError) as refused:
        list(both.decode(raw([[("a", b"1")], [], [("a", b"1"), ("b", b"{no")]])))
    assert (refused.value.row, refused.value.stage) == (2, "HEADER_CONVERTER")
    numbers = pipeline(IntegerConverter())
    with pytest.raises(StageError) as refused:
        numbers.encode(source([[], [("a", 100_000)], [("b", "text")]]))
    assert (refused.value.row, refused.value.stage) == (2, "HEADER_CONVERTER")
    (good,) = numbers.decode(raw([[("a", b"\x00\x00\x01\x00")]]))
    assert pairs(good.column("headers")) == [[("a", b"256")]]
