"""Avro's schemas as Connect's, in the way of Confluent's AvroData: no library is needed for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from penstock.sdk.packing import fits
from penstock.sdk.schema import Schema

UNION: Final = "io.confluent.connect.avro.Union"

Value = Callable[[Any], Any]
"""From what an Avro reader returns to what a ``SourceRecord`` holds."""

_PLAIN: Final[dict[str, Callable[[], Schema]]] = {
    "boolean": Schema.boolean,
    "int": Schema.int32,
    "long": Schema.int64,
    "float": Schema.float32,
    "double": Schema.float64,
    "bytes": Schema.bytes,
    "string": Schema.string,
}
_LOGICAL: Final[dict[str, Callable[[], Schema]]] = {
    "date": Schema.date,
    "time-millis": Schema.time,
    "time-micros": Schema.time,
    "timestamp-millis": Schema.timestamp,
    "timestamp-micros": Schema.timestamp,
}
"""What a reader returns as dates and times; of microseconds Connect keeps the milliseconds."""


@dataclass(frozen=True)
class Mapped:
    """A schema, and how values come into its form; None where they have it already."""

    schema: Schema
    convert: Value | None = None


@dataclass
class AvroMapping:
    """Maps one writer's schema; named types are known once they are defined."""

    named: dict[str, Mapped] = field(default_factory=dict)

    def map(self, avro: Any) -> Mapped:
        """``avro`` is parsed JSON. ValueError says what Connect has no schema for."""
        if isinstance(avro, list):
            return self._union(avro)
        if isinstance(avro, str):
            avro = {"type": avro}
        if (logical := self._logical(avro)) is not None:
            return logical
        kind = avro["type"]
        if isinstance(kind, dict | list):
            return self.map(kind)
        if kind in _PLAIN:
            return Mapped(_PLAIN[kind]())
        complex_kind = _COMPLEX.get(kind)
        if complex_kind is not None:
            return complex_kind(self, avro)
        if kind in self.named:
            return self.named[kind]
        raise ValueError(f"Avro's type {kind} has no Connect schema")

    def _logical(self, avro: Mapping[str, Any]) -> Mapped | None:
        logical = avro.get("logicalType")
        if logical in _LOGICAL:
            return Mapped(_LOGICAL[str(logical)]())
        if logical == "decimal":
            return Mapped(Schema.decimal(int(avro.get("scale", 0))))
        if logical == "uuid":
            return Mapped(Schema.string(), str)
        return None

    def _union(self, branches: list[Any]) -> Mapped:
        there = [branch for branch in branches if branch != "null"]
        optional = len(there) < len(branches)
        if len(there) == 1:
            return _optional(self.map(there[0]), optional)
        mapped = {_branch_name(branch): self.map(branch) for branch in there}
        fields = {name: replace(m.schema, optional=True) for name, m in mapped.items()}
        schema = Schema.struct(fields, name=UNION, optional=optional)
        return Mapped(schema, lambda value: _of_union(mapped, value))

    def _record(self, avro: Mapping[str, Any]) -> Mapped:
        name = full_name(avro)
        fields = {each["name"]: self.map(each["type"]) for each in avro["fields"]}
        schema = Schema.struct({n: m.schema for n, m in fields.items()}, name=name)
        converts = {n: m.convert for n, m in fields.items() if m.convert is not None}
        mapped = Mapped(schema, (lambda v: _converted(v, converts)) if converts else None)
        self.named[name] = mapped
        return mapped

    def _enum(self, avro: Mapping[str, Any]) -> Mapped:
        return self._remember(avro, Mapped(Schema.string()))

    def _fixed(self, avro: Mapping[str, Any]) -> Mapped:
        return self._remember(avro, Mapped(Schema.bytes()))

    def _remember(self, avro: Mapping[str, Any], mapped: Mapped) -> Mapped:
        self.named[full_name(avro)] = mapped
        return mapped

    def _array(self, avro: Mapping[str, Any]) -> Mapped:
        items = self.map(avro["items"])
        convert = items.convert
        schema = Schema.array(items.schema)
        if convert is None:
            return Mapped(schema)
        return Mapped(schema, lambda v: [_or_none(convert, item) for item in v])

    def _map_type(self, avro: Mapping[str, Any]) -> Mapped:
        values = self.map(avro["values"])
        convert = values.convert
        schema = Schema.map(Schema.string(), values.schema)
        if convert is None:
            return Mapped(schema)
        return Mapped(schema, lambda v: {key: _or_none(convert, item) for key, item in v.items()})


_COMPLEX: Final[dict[str, Callable[[AvroMapping, Mapping[str, Any]], Mapped]]] = {
    "record": AvroMapping._record,
    "error": AvroMapping._record,
    "enum": AvroMapping._enum,
    "fixed": AvroMapping._fixed,
    "array": AvroMapping._array,
    "map": AvroMapping._map_type,
}


def full_name(avro: Mapping[str, Any]) -> str:
    """A named type's name with its namespace."""
    name, namespace = str(avro["name"]), avro.get("namespace")
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _optional(mapped: Mapped, optional: bool) -> Mapped:
    if not optional:
        return mapped
    convert = mapped.convert
    schema = replace(mapped.schema, optional=True)
    return Mapped(schema, None if convert is None else lambda v: _or_none(convert, v))


def _or_none(convert: Value, value: Any) -> Any:
    return None if value is None else convert(value)


def _converted(value: dict[str, Any], converts: Mapping[str, Value]) -> dict[str, Any]:
    changed = {name: _or_none(convert, value[name]) for name, convert in converts.items()}
    return {**value, **changed}


def _branch_name(branch: Any) -> str:
    """As Confluent names the fields of a union: the type, or the last part of its name."""
    if isinstance(branch, dict):
        return str(branch.get("name", branch["type"])).rpartition(".")[2]
    return str(branch).rpartition(".")[2]


def _of_union(mapped: Mapping[str, Mapped], value: Any) -> dict[str, Any] | None:
    """The one field that is there.

    Of several named types a reader tells the branch, as (name, value); of others it is the first
    one that the value fits.
    """
    if value is None:
        return None
    name, inner = (
        (value[0].rpartition(".")[2], value[1])
        if isinstance(value, tuple)
        else (_fitting(mapped, value), value)
    )
    convert = mapped[name].convert
    return {name: inner if convert is None else convert(inner)}


def _fitting(mapped: Mapping[str, Mapped], value: Any) -> str:
    return next(name for name, each in mapped.items() if fits(each.schema, value))
