"""Converts dataclasses to JSON and back, by their declared types, for a carrier's connection.

Nothing is unpickled. Input can only become the dataclasses that the reader asks for, plain values
inside them, and classes that ``classes`` returns for a name: those of installed plugins.
"""

from __future__ import annotations

import base64
import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
Json = Any


class CodecError(ValueError):
    """The input does not match the requested type."""


@dataclasses.dataclass(frozen=True)
class Codec:
    """Encodes and decodes. ``name`` and ``load`` translate between classes and their names."""

    name: Callable[[type], str]
    load: Callable[[str], type]
    variants: Mapping[type, Mapping[str, type]] = dataclasses.field(default_factory=dict)
    """For a declared type that stands for several dataclasses: those dataclasses, by name."""

    def encode(self, value: object) -> Json:
        """``value``, a dataclass, as JSON; the reader knows its class."""
        return self._encode(value, type(value))

    def decode(self, cls: type[T], data: Json) -> T:
        """The dataclass ``cls`` that ``data`` holds; CodecError if it holds something else."""
        try:
            return typing.cast(T, self._decode(data, cls))
        except (TypeError, KeyError, AttributeError) as error:
            raise CodecError(f"not a {cls.__name__}: {error}") from error

    def _encode(self, value: Any, declared: Any) -> Json:
        if declared in self.variants:
            return [type(value).__name__, self._fields(value)]
        if isinstance(value, bytes):
            return base64.b64encode(value).decode("ascii")
        if isinstance(value, type):
            return self.name(value)
        if isinstance(value, Enum):
            return value.value
        if dataclasses.is_dataclass(value):
            return self._fields(value)
        return self._encode_group(value, _plain(declared))

    def _fields(self, value: Any) -> dict[str, Json]:
        cls: Any = type(value)
        return {name: self._encode(getattr(value, name), t) for name, t in _types(cls)}

    def _encode_group(self, value: Any, declared: Any) -> Json:
        if isinstance(value, Mapping):
            key, item = _arguments(declared, 2)
            if key in (str, Any):
                return {k: self._encode(v, item) for k, v in value.items()}
            return [[self._encode(k, key), self._encode(v, item)] for k, v in value.items()]
        if isinstance(value, tuple | list | AbstractSet):
            items = list(value)
            return [
                self._encode(v, t) for v, t in zip(items, _items(declared, len(items)), strict=True)
            ]
        return value

    def _decode(self, data: Json, declared: Any) -> Any:
        if declared in self.variants:
            return self._decode_variant(data, self.variants[declared])
        plain = _plain(declared)
        if data is None or plain is Any:
            return data
        origin: Any = typing.get_origin(plain) or plain
        if origin is type:
            return self._decode_class(data, plain)
        if dataclasses.is_dataclass(origin):
            make: Callable[..., Any] = origin  # type: ignore[assignment]  # mypy: not callable
            return make(**{n: self._decode(data[n], t) for n, t in _types(make)})
        return self._decode_group(data, plain, origin)

    def _decode_variant(self, data: Json, variants: Mapping[str, type]) -> Any:
        name, fields = data
        return self._decode(fields, variants[name])

    def _decode_class(self, data: Json, declared: Any) -> type:
        found = self.load(data)
        wanted = typing.get_args(declared)[0]
        if not issubclass(found, wanted):
            raise CodecError(f"{data} is not a {wanted.__name__}")
        return found

    def _decode_group(self, data: Json, declared: Any, origin: Any) -> Any:
        if isinstance(origin, type) and issubclass(origin, Mapping):
            key, item = _arguments(declared, 2)
            if key in (str, Any):
                return {k: self._decode(v, item) for k, v in data.items()}
            return {self._decode(k, key): self._decode(v, item) for k, v in data}
        if origin is Sequence or (isinstance(origin, type) and issubclass(origin, _GROUPS)):
            kinds = _items(declared, len(data))
            made = [self._decode(v, t) for v, t in zip(data, kinds, strict=True)]
            return frozenset(made) if issubclass(origin, AbstractSet) else tuple(made)
        return _single(data, origin)


_GROUPS = (tuple, list, AbstractSet)


def _single(data: Json, wanted: Any) -> Any:
    if issubclass(wanted, Enum):
        return wanted(data)
    if wanted is bytes:
        return base64.b64decode(data, validate=True)
    if not isinstance(data, (int, float) if wanted is float else wanted):
        raise CodecError(f"found {type(data).__name__}, expected {wanted.__name__}")
    return data


@cache
def _types(cls: Any) -> tuple[tuple[str, Any], ...]:
    """Fields that are given to the constructor, with their declared types."""
    hints = typing.get_type_hints(cls)
    return tuple((f.name, hints[f.name]) for f in dataclasses.fields(cls) if f.init)


def _plain(declared: Any) -> Any:
    """Without the None of an optional type."""
    if isinstance(declared, types.UnionType) or typing.get_origin(declared) is typing.Union:
        others = [t for t in typing.get_args(declared) if t is not type(None)]
        return others[0] if len(others) == 1 else Any
    return declared


def _arguments(declared: Any, count: int) -> tuple[Any, ...]:
    return typing.get_args(declared) or (Any,) * count


def _items(declared: Any, count: int) -> tuple[Any, ...]:
    """The types of the ``count`` items of a group: each its own, or one for all."""
    arguments = typing.get_args(declared)
    fixed = typing.get_origin(declared) is tuple and not (arguments and arguments[-1] is ...)
    if fixed:
        return arguments
    return (arguments[0] if arguments else Any,) * count
