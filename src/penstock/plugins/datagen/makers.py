"""Columns of made-up values, as an Avro schema describes them."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from penstock.plugins.datagen.draws import Draws, Numbers
from penstock.plugins.datagen.pattern_texts import matching_texts

Maker = Callable[[Numbers], pa.Array]
"""The values of the records with these numbers."""

_LETTERS: Final = string.ascii_letters + string.digits
_BOUNDS: Final = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**62), 2**62 - 1),
    "float": (0.0, 1.0),
    "double": (0.0, 1.0),
}
_TYPES: Final = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
}
MOST_ITEMS: Final = 1 << 16


def maker(avro: Any, draws: Draws) -> Maker:
    """What makes values of ``avro``, which is parsed JSON; ValueError names what is wrong."""
    if isinstance(avro, list):
        return _union(avro, draws)
    if isinstance(avro, str):
        avro = {"type": avro}
    kind, how = avro.get("type"), avro.get("arg.properties") or {}
    if isinstance(kind, dict | list):
        return maker(kind, draws)
    if kind in _COMPLEX:
        return _COMPLEX[kind](avro, how, draws)
    if kind not in _TYPES:
        raise ValueError(f"values of type {kind} cannot be made")
    return _plain(kind, how, draws)


def _plain(kind: str, how: Mapping[str, Any], draws: Draws) -> Maker:
    for name, make in _WAYS.items():
        if name in how:
            return make(kind, how[name], draws)
    if kind == "boolean":
        return lambda numbers: pa.array(draws.below(2, numbers).astype(bool))
    if kind in _BOUNDS:
        return _range(kind, {}, draws)
    return _random_text(kind, how.get("length", {"min": 8, "max": 17}), draws)


def _iteration(kind: str, how: Mapping[str, Any], _: Draws) -> Maker:
    start, step = how.get("start", how.get("initial", 0)), how.get("step", 1)
    span = how["restart"] - start if "restart" in how else None

    def make(numbers: Numbers) -> pa.Array:
        moved = numbers.astype(np.int64) * step
        values = start + (moved % span if span else moved)
        return pa.array(values).cast(_TYPES[kind])

    return make


def _range(kind: str, how: Mapping[str, Any], draws: Draws) -> Maker:
    low, high = how.get("min", _BOUNDS[kind][0]), how.get("max", _BOUNDS[kind][1])
    if not low < high:
        raise ValueError(f"the range from {low} to {high} is empty")
    if kind in ("int", "long"):
        return lambda numbers: pa.array(draws.below(high - low, numbers) + low).cast(_TYPES[kind])
    return lambda numbers: pa.array(draws.fractions(numbers) * (high - low) + low).cast(
        _TYPES[kind]
    )


def _options(kind: str, options: Any, draws: Draws) -> Maker:
    if not isinstance(options, list) or not options:
        raise ValueError("'options' must be a list with something in it")
    choices = pa.array(options, _TYPES[kind])
    return lambda numbers: choices.take(pa.array(draws.below(len(choices), numbers)))


def _regex(kind: str, expression: str, draws: Draws) -> Maker:
    return _options(kind, matching_texts(expression), draws)


_WAYS: Final[Mapping[str, Callable[[str, Any, Draws], Maker]]] = {
    "iteration": _iteration,
    "range": _range,
    "options": _options,
    "regex": _regex,
}


def _lengths(length: Any, draws: Draws) -> Callable[[Numbers], Sequence[int]]:
    low, high = (length, length + 1) if isinstance(length, int) else _bounds_of(length)
    if not 0 <= low < high <= MOST_ITEMS:
        raise ValueError(f"a length from {low} to {high} is impossible")
    return lambda numbers: (draws.below(high - low, numbers) + low).tolist()


def _bounds_of(length: Mapping[str, Any]) -> tuple[int, int]:
    low = int(length.get("min", 0))
    return low, int(length.get("max", low + 8))


def _random_text(kind: str, length: Any, draws: Draws) -> Maker:
    lengths, letters = _lengths(length, draws.of("length")), np.array(list(_LETTERS))

    def make(numbers: Numbers) -> pa.Array:
        counts = lengths(numbers)
        chosen = letters[draws.below(len(letters), _inside(numbers, counts))].tolist()
        return pa.array(list(_cut("".join(chosen), counts)), pa.string()).cast(_TYPES[kind])

    return make


def _cut(text: str, counts: Sequence[int]) -> list[str]:
    ends = np.cumsum(counts).tolist()
    return [text[end - count : end] for end, count in zip(ends, counts, strict=True)]


def _inside(numbers: Numbers, counts: Sequence[int]) -> Numbers:
    """A number for each item of each record."""
    repeated = np.repeat(numbers, counts)
    starts = np.repeat(np.cumsum([0, *counts])[:-1], counts)
    places = np.arange(len(repeated)) - starts
    inside: Numbers = repeated * np.uint64(MOST_ITEMS) + places.astype(np.uint64)
    return inside


def _record(avro: Mapping[str, Any], _: Mapping[str, Any], draws: Draws) -> Maker:
    made = {f["name"]: maker(_with_properties(f), draws.of(f["name"])) for f in avro["fields"]}
    return lambda numbers: pa.StructArray.from_arrays(
        [make(numbers) for make in made.values()], names=list(made)
    )


def _with_properties(field: Mapping[str, Any]) -> Any:
    """The type of a field; its properties may also be beside the type."""
    kind = field["type"]
    if isinstance(kind, str) and "arg.properties" in field:
        return {"type": kind, "arg.properties": field["arg.properties"]}
    return kind


def _array(avro: Mapping[str, Any], how: Mapping[str, Any], draws: Draws) -> Maker:
    lengths = _lengths(how.get("length", {"min": 1, "max": 5}), draws.of("length"))
    items = maker(avro["items"], draws.of("items"))

    def make(numbers: Numbers) -> pa.Array:
        counts = lengths(numbers)
        offsets = pa.array(np.cumsum([0, *counts]), pa.int32())
        return pa.ListArray.from_arrays(offsets, items(_inside(numbers, counts)))

    return make


def _map(avro: Mapping[str, Any], how: Mapping[str, Any], draws: Draws) -> Maker:
    lengths = _lengths(how.get("length", {"min": 1, "max": 5}), draws.of("length"))
    keys = maker({"type": "string", "arg.properties": how.get("keys", {})}, draws.of("keys"))
    values = maker(avro["values"], draws.of("values"))

    def make(numbers: Numbers) -> pa.Array:
        counts = lengths(numbers)
        inside = _inside(numbers, counts)
        offsets = pa.array(np.cumsum([0, *counts]), pa.int32())
        return pa.MapArray.from_arrays(offsets, keys(inside), values(inside))

    return make


def _enum(avro: Mapping[str, Any], how: Mapping[str, Any], draws: Draws) -> Maker:
    return _options("string", how.get("options", avro["symbols"]), draws)


def _union(branches: list[Any], draws: Draws) -> Maker:
    there = [branch for branch in branches if branch != "null"]
    if len(there) != 1:
        raise ValueError("a union may have one type besides null")
    inner = maker(there[0], draws.of("value"))
    if len(there) == len(branches):
        return inner

    def make(numbers: Numbers) -> pa.Array:
        values = inner(numbers)
        absent = draws.below(2, numbers).astype(bool)
        places = pa.array(np.arange(len(numbers)), mask=absent)
        return values.take(places)

    return make


_COMPLEX: Final[Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any], Draws], Maker]]] = {
    "record": _record,
    "array": _array,
    "map": _map,
    "enum": _enum,
}
