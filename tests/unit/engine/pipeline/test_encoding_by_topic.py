"""A converter that depends on the topic is asked for each topic, and the rows stay in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa
import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.stage_error import StageError
from penstock.sdk.batches import TOPIC, record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter, Decoded
from penstock.sdk.errors import RecordError


class Named(Converter):
    """Writes the topic before every value."""

    per_topic: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        """Nothing."""

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        return self.encode_for("", array, field)

    def encode_for(self, topic: str, array: pa.Array, field: pa.Field) -> pa.Array:
        values = array.to_pylist()
        if "bad" in values:
            raise RecordError("bad", row=values.index("bad"))
        return pa.array([v and f"{topic}:{v}".encode() for v in values], pa.binary())

    def decode(self, data: pa.Array) -> list[Decoded]:
        raise NotImplementedError


def pipeline() -> Pipeline:
    key = StringConverter()
    key.configure({}, is_key=True)
    return Pipeline(key, Named())


def batch(pairs: list[tuple[str, str | None]]) -> pa.RecordBatch:
    topics = pa.array([topic for topic, _ in pairs], pa.string()).cast(TOPIC)
    return record_batch(topics, pa.array([value for _, value in pairs], pa.string()))


def test_rows_keep_their_order() -> None:
    mixed = [("a", "1"), ("b", "2"), ("a", None), ("c", "4"), ("b", "5")]
    assert pipeline().encode(batch(mixed)).value.to_pylist() == [
        b"a:1",
        b"b:2",
        None,
        b"c:4",
        b"b:5",
    ]
    assert pipeline().encode(batch([("a", "1"), ("a", "2")])).value.to_pylist() == [b"a:1", b"a:2"]
    assert pipeline().encode(batch([])).value.to_pylist() == []


def test_an_error_names_the_row_of_the_batch() -> None:
    with pytest.raises(StageError) as caught:
        pipeline().encode(batch([("a", "1"), ("b", "2"), ("b", "bad")]))
    assert (caught.value.row, caught.value.stage) == (2, "VALUE_CONVERTER")
