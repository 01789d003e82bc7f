"""Records in a stage of Spark's, by a connector's converters: rows stay rows, in their order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from frame_leases import plain_lease
from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.engine.frames.converted_frame import CONVERTED_KEY, Converting
from penstock.engine.frames.fitting import JSON, TYPED, Fitting
from penstock.engine.frames.problems import PROBLEM, READING, Problem
from penstock.engine.lease import retrying
from penstock.engine.lease.lease import Tolerance
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.recipe import Recipe
from penstock.sdk.converters import Decoded
from penstock.sdk.errors import RetriableError

PERSON = pa.struct([("id", pa.int64()), ("name", pa.string())])
STEP = Problem("", READING, "acme.Converter")


def json_pipeline(*, schemas: bool) -> Pipeline:
    key, value = StringConverter(), JsonConverter()
    key.configure({}, is_key=True)
    value.configure({"schemas.enable": str(schemas).lower()}, is_key=False)
    return Pipeline(key, value)


def added(
    values: Sequence[bytes | None], *, schemas: bool, wanted: pa.DataType = PERSON
) -> dict[str, list[Any]]:
    stage = Converting(plain_lease(), Fitting(wanted, "the schema, x", STEP))
    keys = pa.array([b"k%d" % n for n in range(len(values))], pa.binary())
    batch = pa.RecordBatch.from_pydict({"key": keys, "value": pa.array(values, pa.binary())})
    pipeline = json_pipeline(schemas=schemas)
    found = stage.added(batch, lambda part: list(pipeline.decode(part)))
    assert found[TYPED].type == wanted
    return {name: column.to_pylist() for name, column in found.items()}


def envelope(payload: dict[str, Any] | None, **fields: str) -> bytes:
    kinds = [{"field": name, "type": kind, "optional": True} for name, kind in fields.items()]
    schema = {"type": "struct", "fields": kinds, "optional": True}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_fields_are_taken_by_their_names_whatever_schema_a_record_has() -> None:
    values = [
        envelope({"name": "a", "id": 1}, name="string", id="int32"),
        envelope({"id": 2, "more": 3}, id="int64", more="int32"),
        None,
        envelope({"name": "d", "id": 4}, name="string", id="int32"),
    ]
    found = added(values, schemas=True)
    first, *rest = found[TYPED]
    assert first == {"id": 1, "name": "a"}
    assert rest == [{"id": 2, "name": None}, None, {"id": 4, "name": "d"}]
    assert found[CONVERTED_KEY] == ["k0", "k1", "k2", "k3"]
    assert found[PROBLEM] == found[JSON] == [None] * 4


def test_records_that_cannot_be_converted_or_do_not_fit_say_so_in_their_places() -> None:
    values = [b"no envelope", envelope({"id": 1}, id="int64"), envelope({"id": "x"}, id="string")]
    found = added(values, schemas=True)
    assert found[TYPED] == [None, {"id": 1, "name": None}, None]
    assert found[CONVERTED_KEY] == [None, "k1", None]
    problems = [Problem.read(text) if text else None for text in found[PROBLEM]]
    assert problems[1] is None
    assert problems[0] is not None
    assert (problems[0].stage, problems[0].step) == (
        READING,
        "org.apache.kafka.connect.json.JsonConverter",
    )
    assert problems[2] is not None
    assert problems[2].step == "acme.Converter"
    assert "does not fit the schema, x" in problems[2].text


def test_values_without_a_schema_are_left_for_spark_to_parse() -> None:
    found = added([b'{"id": 1}', b"null"], schemas=False)
    assert found[JSON] == ['{"id": 1}', None]
    assert found[TYPED] == [None, None]


def test_as_a_text_a_value_is_its_json() -> None:
    found = added([b'{"id": 1}', b'"x"'], schemas=False, wanted=pa.string())
    assert found[TYPED] == ['{"id": 1}', "x"]


def test_no_records_and_only_bad_ones() -> None:
    assert added([], schemas=True)[TYPED] == []
    assert added([b"x"], schemas=True)[TYPED] == [None]


class Late(StringConverter):
    """Whatever it needs is not there at first."""

    asked: ClassVar[list[int]] = []

    def decode(self, data: pa.Array) -> list[Decoded]:
        self.asked.append(len(data))
        if len(self.asked) == 1:
            raise RetriableError("no registry yet")
        return super().decode(data)


@pytest.mark.parametrize("seconds", [0.0, 20.0])
def test_what_may_work_later_is_tried_again_for_as_long_as_that_is_tolerated(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    monkeypatch.setattr(Late, "asked", [])
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.0)
    recipe = Recipe((StringConverter, {}), (Late, {}))
    lease = plain_lease(pipeline=recipe, tolerance=Tolerance(retry_seconds=seconds))
    columns = {name: pa.array([b"x"], pa.binary()) for name in ("key", "value")}
    stage = Converting(lease, Fitting(pa.string(), "the schema, STRING", STEP))
    rows = stage([pa.RecordBatch.from_pydict(columns)])
    if not seconds:
        with pytest.raises(RetriableError):
            next(rows)
        return
    assert next(rows).column(TYPED).to_pylist() == ["x"]
