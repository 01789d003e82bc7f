"""Transforms that are for some records only: the others pass, and all keep their order."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.predicates import RecordIsTombstone, TopicNameMatches
from penstock.columnar.regex_router import RegexRouter
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.predicated import Predicated
from penstock.engine.pipeline.recipe import Condition, Recipe
from penstock.engine.pipeline.stage_error import StageError
from penstock.sdk.batches import record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter
from penstock.sdk.errors import RecordError
from penstock.sdk.predicates import Predicate
from penstock.sdk.schema import Schema, to_field
from penstock.sdk.transforms import Transform

TEXT = to_field(Schema.string(optional=True), "value")


class Meant(Predicate):
    """Values that begin with one of these letters."""

    connect_class = ""
    config_def = ConfigDef()

    def __init__(self, letters: str) -> None:
        self.letters = letters

    def configure(self, config: Mapping[str, str]) -> None:
        """Nothing to configure."""

    def test(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        values = map(str, batch.column("value").to_pylist())
        return pa.array([value[0] in self.letters for value in values], pa.bool_())


class Change(Transform):
    """Whatever a function makes of the values that are meant."""

    connect_class = "test.Change"
    config_def = ConfigDef()

    def __init__(
        self, change: Callable[[str], object | None], schema: Schema | None = None
    ) -> None:
        self.change = change
        self.field = to_field(schema or Schema.string(optional=True), "value")

    def configure(self, config: Mapping[str, str]) -> None:
        """Nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        changed = [self._changed(v, row) for row, v in enumerate(batch.column("value").to_pylist())]
        kept = [row for row, value in enumerate(changed) if value is not None]
        values = pa.array([changed[row] for row in kept], self.field.type)
        at = batch.schema.get_field_index("value")
        return batch.take(pa.array(kept, pa.int64())).set_column(at, self.field, values)

    def _changed(self, value: str, row: int) -> object | None:
        if value == "bad":
            raise RecordError("a bad one", row=row)
        return self.change(value)


UPPER = Change(str.upper)
DROP = Change(lambda _: None)
DROP_LONG = Change(lambda text: None if len(text) > 1 else text)
LENGTH = Change(len, Schema.int64())


def converters(value: Converter) -> tuple[Converter, Converter]:
    key = StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    return key, value


def source(values: Sequence[str | None]) -> pa.RecordBatch:
    keys = pa.array([f"k{n}" for n in range(len(values))])
    return record_batch("t", pa.array(values, pa.string()), key=keys, value_field=TEXT)


def encoded(values: Sequence[str], *steps: Predicated) -> dict[str, str]:
    """Values by key, in the order in which they are produced."""
    made = Pipeline(*converters(StringConverter()), steps).encode(source(values))
    assert len(made.batch.column("topic")) == len(made.key) == len(made.value)
    return {
        key.decode(): value.decode()
        for key, value in zip(made.key.to_pylist(), made.value.to_pylist(), strict=True)
    }


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Predicated(UPPER), {"k0": "A", "k1": "BB", "k2": "AA", "k3": "C"}),
        (Predicated(UPPER, Meant("a")), {"k0": "A", "k1": "bb", "k2": "AA", "k3": "c"}),
        (Predicated(UPPER, Meant("a"), True), {"k0": "a", "k1": "BB", "k2": "aa", "k3": "C"}),
        (Predicated(UPPER, Meant("x")), {"k0": "a", "k1": "bb", "k2": "aa", "k3": "c"}),
        (Predicated(UPPER, Meant("abc")), {"k0": "A", "k1": "BB", "k2": "AA", "k3": "C"}),
        (Predicated(DROP, Meant("a")), {"k1": "bb", "k3": "c"}),
        (Predicated(DROP, Meant("a"), True), {"k0": "a", "k2": "aa"}),
        (Predicated(DROP, Meant("abc")), {}),
        (Predicated(DROP_LONG, Meant("a")), {"k0": "a", "k1": "bb", "k3": "c"}),
        (Predicated(DROP_LONG, Meant("bc")), {"k0": "a", "k2": "aa", "k3": "c"}),
    ],
)
def test_only_what_is_meant_is_changed(step: Predicated, expected: dict[str, str]) -> None:
    found = encoded(["a", "bb", "aa", "c"], step)
    assert list(found.items()) == list(expected.items())


def test_a_new_schema_for_some_records_and_transforms_after_it() -> None:
    values = ["a", "bb", "aaa", "c", "aa"]
    to_length = Predicated(LENGTH, Meant("a"))
    found = encoded(values, to_length)
    assert list(found.items()) == [("k0", "1"), ("k1", "bb"), ("k2", "3"), ("k3", "c"), ("k4", "2")]
    shouted = encoded(values, to_length, Predicated(UPPER, Meant("bc")))
    assert list(shouted.values()) == ["1", "BB", "3", "C", "2"]
    dropped = encoded(values, to_length, Predicated(DROP, Meant("13")))
    assert list(dropped.items()) == [("k1", "bb"), ("k3", "c"), ("k4", "2")]


def raw(values: Sequence[str | None]) -> pa.RecordBatch:
    rows = len(values)
    data = [None if value is None else value.encode() for value in values]
    return record_batch(
        "t",
        pa.array(data, pa.binary()),
        key=pa.nulls(rows, pa.binary()),
        partition=pa.array([0] * rows, pa.int32()),
        offset=pa.array(range(10, 10 + rows), pa.int64()),
    )


def decoded(values: Sequence[str | None], *steps: Predicated) -> list[dict[int, object]]:
    """Values by offset, a batch each."""
    batches = Pipeline(*converters(StringConverter()), steps).decode(raw(values))
    return [
        dict(zip(b.column("offset").to_pylist(), b.column("value").to_pylist(), strict=True))
        for b in batches
    ]


def test_a_sink_is_given_runs_of_one_schema_in_order() -> None:
    to_length = Predicated(LENGTH, Meant("a"))
    assert decoded(["a", "aa", "b", "a", "c"], to_length) == [
        *({10: 1, 11: 2}, {12: "b"}, {13: 1}, {14: "c"})
    ]
    assert decoded(["a", "b", "aa"], Predicated(UPPER, Meant("a"))) == [
        {10: "A", 11: "b", 12: "AA"}
    ]
    assert decoded(["a", "b", "a"], Predicated(DROP, Meant("a"))) == [{11: "b"}]
    assert decoded(["a"], Predicated(DROP, Meant("a"))) == [{}]


def test_tombstones_are_left_out() -> None:
    none = RecordIsTombstone()
    none.configure({})
    assert decoded(["a", None, "b"], Predicated(DROP, none)) == [{10: "a", 12: "b"}]


def test_an_error_names_the_record_and_not_its_place_among_those_meant() -> None:
    pipeline = Pipeline(*converters(StringConverter()), [Predicated(UPPER, Meant("b"))])
    values = ["a", "b", "c", "bad", "b"]
    seen: list[tuple[object, str, str]] = []

    def bad(batch: pa.RecordBatch, error: StageError) -> None:
        seen.append((batch.column("value")[error.row].as_py(), error.stage, error.step))

    made = pipeline.encode(source(values), bad)
    assert seen == [("bad", "TRANSFORMATION", "test.Change")]
    assert made.value.to_pylist() == [b"a", b"B", b"c", b"B"]
    with pytest.raises(StageError) as caught:
        list(pipeline.decode(raw(values)))
    assert caught.value.row == 3


def test_the_bad_record_of_a_part_is_left_out() -> None:
    """A value that only the converter refuses, in one of two parts."""
    many = Change(lambda text: {"s": text}, Schema.struct({"s": Schema.string()}))
    pipeline = Pipeline(*converters(StringConverter()), [Predicated(many, Meant("a"))])
    seen: list[str] = []
    made = pipeline.encode(source(["b", "a", "c"]), lambda batch, e: seen.append(e.stage))
    assert seen == ["VALUE_CONVERTER"]
    assert made.key.to_pylist() == [b"k0", b"k2"]


def test_both_schemas_arrive_as_they_are() -> None:
    pipeline = Pipeline(*converters(JsonConverter()), [Predicated(LENGTH, Meant("a"))])
    made = pipeline.encode(source(["aa", "b"]))
    payloads = [json.loads(value)["payload"] for value in made.value.to_pylist()]
    assert payloads == [2, "b"]


def test_topics_of_a_source_with_several() -> None:
    """As from a recipe, on the far side of a pickle."""
    condition = Condition(TopicNameMatches, {"pattern": "${no}orders"}, negate=True)
    recipe = Recipe(
        key=(StringConverter, {}),
        value=(StringConverter, {}),
        transforms=[(RegexRouter, {"regex": ".*", "replacement": "other"}, condition)],
    )
    copy: Recipe = pickle.loads(pickle.dumps(recipe))  # noqa: S301 (pickled just above)
    pipeline = copy.pipeline(lambda s: {k: v.replace("${no}", "") for k, v in s.items()})
    assert pipeline.predicated
    topics = pa.array(["orders", "x", "orders", "y"]).dictionary_encode()
    made = pipeline.encode(record_batch(topics, pa.array(["1", "2", "3", "4"])))
    assert made.batch.column("topic").to_pylist() == ["orders", "other", "orders", "other"]
    assert made.value.to_pylist() == [b"1", b"2", b"3", b"4"]
