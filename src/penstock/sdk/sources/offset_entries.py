"""What is known about one object of a source: where it is, and how far it was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import total_ordering
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, Self, TypeVar

import pyarrow as pa

from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import OffsetError, RecordError
from penstock.sdk.offsets import SourcePartition, canonical
from penstock.sdk.records import SourceRecord
from penstock.sdk.schema import Schema
from penstock.sdk.sources.offset_values import check, checked

RECORD_COUNT: Final = "recordCount"
_INT: Final = 1 << 31

T = TypeVar("T")


class SchemaAndValue(NamedTuple):
    """A value and its schema; without a schema it is any JSON-like object."""

    schema: Schema | None
    value: Any


class FrozenPartition(dict[str, Any]):
    """A source partition that many records share, so it cannot be changed."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the key of an offset entry cannot be changed; copy it with dict(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


@total_ordering
class OffsetManagerKey:
    """Names one object of the source, as ``{"bucket": …, "objectKey": …}`` does in S3.

    It is the source partition under which the offset is stored. Equal whatever the order of its
    parts; never changes.
    """

    __slots__ = ("_text", "partition")

    def __init__(self, partition: SourcePartition) -> None:
        self.partition: SourcePartition = FrozenPartition(checked(partition))
        self._text = canonical(self.partition)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OffsetManagerKey) and self._text == other._text

    def __lt__(self, other: OffsetManagerKey) -> bool:
        return self._text < other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"OffsetManagerKey({self._text})"


@total_ordering
class OffsetManagerEntry:
    """How far one object was read: its key, and properties that the offset store can hold.

    Subclass it to give properties names, as ``S3OffsetManagerEntry`` does; a subclass may track
    whatever else it likes, but only the key and the properties are stored. What is handed in and
    out is copied: an entry changes by its setters alone. Entries are ordered by key, then by the
    number of records. For one thread.
    """

    reserved: ClassVar[frozenset[str]] = frozenset({RECORD_COUNT})
    """Properties with methods of their own, which ``set_property`` therefore refuses."""

    def __init__(
        self,
        key: OffsetManagerKey | SourcePartition,
        properties: Mapping[str, Any] | None = None,
    ) -> None:
        self._key = key if isinstance(key, OffsetManagerKey) else OffsetManagerKey(key)
        self._take(properties or {})

    def get_manager_key(self) -> OffsetManagerKey:
        """Which object it is about."""
        return self._key

    def get_properties(self) -> dict[str, Any]:
        """What is stored, as a copy."""
        return {**self._properties, RECORD_COUNT: self._record_count}

    def from_properties(self, properties: Mapping[str, Any]) -> Self:
        """An entry for the same object with a copy of ``properties``: what a factory calls."""
        made = copy(self)
        made._take(properties)
        return made

    def _take(self, properties: Mapping[str, Any]) -> None:
        self._properties = checked(properties)
        count = self._properties.pop(RECORD_COUNT, None)
        self._record_count = _of_type(RECORD_COUNT, count, int, "a whole number") or 0

    @property
    def record_count(self) -> int:
        """How many records were made of the object so far."""
        return self._record_count

    def increment_record_count(self, records: int = 1) -> None:
        """So many records more were made."""
        self._record_count += records

    def get_property(self, name: str) -> Any:
        """The property, or None."""
        return self._record_count if name == RECORD_COUNT else self._properties.get(name)

    def set_property(self, name: str, value: Any) -> None:
        """Store a value; OffsetError names the key if the offset store cannot hold it."""
        if name in self.reserved:
            raise OffsetError(f"{name} has a method of its own and cannot be set as a property.")
        check(name, value)
        self._properties[name] = value

    def get_int(self, name: str) -> int | None:
        """A whole number of 32 bits; all that the store returns have 64, so it is narrowed."""
        number = self.get_long(name)
        if number is not None and not -_INT <= number < _INT:
            raise OffsetError(f"The value of {name!r}, {number}, does not fit into 32 bits.")
        return number

    get_integer = get_int

    def get_long(self, name: str) -> int | None:
        """A whole number of 64 bits."""
        return self._typed(name, int, "a whole number")

    def get_string(self, name: str) -> str | None:
        """A text."""
        return self._typed(name, str, "text")

    def get_bool(self, name: str) -> bool | None:
        """A boolean."""
        return self._typed(name, bool, "a boolean")

    def get_float(self, name: str) -> float | None:
        """A number; a whole one is converted."""
        value = self.get_property(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        return self._typed(name, float, "a number")

    def set_int(self, name: str, value: int) -> None:
        """Store a whole number of 32 bits."""
        if not -_INT <= value < _INT:
            raise OffsetError(f"The value for {name!r}, {value}, does not fit into 32 bits.")
        self.set_property(name, value)

    set_integer = set_int

    def set_long(self, name: str, value: int) -> None:
        """Store a whole number of 64 bits."""
        self.set_property(name, value)

    def set_string(self, name: str, value: str) -> None:
        """Store a text."""
        self.set_property(name, value)

    def set_bool(self, name: str, value: bool) -> None:
        """Store a boolean."""
        self.set_property(name, value)

    def set_float(self, name: str, value: float) -> None:
        """Store a number."""
        self.set_property(name, float(value))

    def source_record(
        self,
        topic: str,
        key: SchemaAndValue | None,
        value: SchemaAndValue,
        *,
        kafka_partition: int | None = None,
        timestamp: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> SourceRecord:
        """A record with the entry's present state as its offset: what holds once it is delivered.

        So count the record first, with ``increment_record_count``.
        """
        key_schema, key_value = key or (None, None)
        offset = self.get_properties()
        return SourceRecord(
            self._key.partition, offset, topic, value.value, value.schema,
            key_value, key_schema, kafka_partition, timestamp, headers,
        )  # fmt: skip

    def source_batch(self, records: pa.RecordBatch) -> SourceBatch:
        """As ``source_record``, for the records of a whole Arrow batch."""
        return SourceBatch(records, [(self._key.partition, self.get_properties())])

    def bad_record(self, message: str, data: bytes | None = None) -> RecordError:
        """The error for what no record can be made of; ``data`` is what the dead letter holds.

        As with ``source_record``, the entry's present state is where the source goes on if errors
        are tolerated. So count the bad record first.
        """
        partition, offset = self._key.partition, self.get_properties()
        return RecordError(message, data=data, source_partition=partition, source_offset=offset)

    def _typed(self, name: str, kind: type[T], word: str) -> T | None:
        return _of_type(name, self.get_property(name), kind, word)

    def _rank(self) -> tuple[OffsetManagerKey, int]:
        return self._key, self._record_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OffsetManagerEntry):
            return NotImplemented
        mine = self._key, self.get_properties()
        return mine == (other._key, other.get_properties())

    def __lt__(self, other: OffsetManagerEntry) -> bool:
        return self._rank() < other._rank()

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._key!r}, {self.get_properties()!r})"


def _of_type(name: str, value: Any, kind: type[T], word: str) -> T | None:
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise OffsetError(f"The value of {name!r} is expected to be {word}, not {value!r}.")
    return value
