"""Puts Arrow columns into a producer's queue, without a Python object or call per record.

``Producer.produce`` takes one record and costs about a microsecond, most of it Python's. The C
library takes whole arrays of messages, which point into Arrow's buffers.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.kafka import librdkafka
from penstock.kafka.librdkafka import MESSAGE, handle

_TAKES_COLUMNS: Final = "_takes_columns"
_ANY_PARTITION: Final = -1
COPY: Final = 0x2
"""The library copies what the messages point to, so our columns can be freed right away."""

_NOTHING: Final = ctypes.create_string_buffer(1)
"""The address of empty payloads: a null pointer would mean a null value."""


def takes_columns(producer: Producer) -> bool:
    """Whether ``ColumnQueue`` works with this producer. Found out once for each."""
    known = getattr(producer, _TAKES_COLUMNS, None)
    if known is None:
        known = librdkafka.available() and librdkafka.holds(producer)
        with suppress(AttributeError):  # one of another class
            setattr(producer, _TAKES_COLUMNS, known)
    return bool(known)


class ColumnQueue:
    """Puts the records of two binary columns into a producer's queue, in order.

    Only where ``takes_columns``.
    """

    def __init__(self, producer: Producer, topic: str, keys: pa.Array, values: pa.Array) -> None:
        self._producer = producer
        self.topic = topic
        self._columns = as_binary(keys), as_binary(values)  # kept: the messages point into them
        self._left = _messages(*self._columns)

    def push(self) -> bool:
        """Queue the remaining records; False if the queue fills up first.

        Raises KafkaException if a record is rejected. Later records may have been queued by then,
        so the transaction must not be committed.
        """
        if not len(self._left):
            return True
        _queue(self._producer, self.topic, self._left)
        failed = np.flatnonzero(self._left["error"])
        if not len(failed):
            self._left = self._left[:0]
            return True
        self._left = self._left[failed[0] :]
        _raise_unless_full(self._left["error"])
        self._left["error"] = 0
        return False


def _raise_unless_full(errors: npt.NDArray[Any]) -> None:
    refused = errors[(errors != 0) & (errors != KafkaError._QUEUE_FULL)]
    if len(refused):
        raise unable(int(refused[0]))


def unable(code: int) -> KafkaException:
    """What confluent_kafka would raise."""
    return KafkaException(KafkaError(code, "Unable to produce message"))


def _queue(producer: Producer, topic: str, messages: npt.NDArray[Any]) -> None:
    """Let the library copy the messages; it sets an error in each that it did not take."""
    library = librdkafka.loaded()
    to = topic_handle(producer, topic)
    try:
        library.call.produce_batch(to, _ANY_PARTITION, COPY, messages.ctypes.data, len(messages))
    finally:
        library.call.topic_destroy(to)


def topic_handle(producer: Producer, topic: str) -> int:
    """The library's handle of a topic, to be destroyed by the caller."""
    client = handle(producer)
    nameable = client and "\0" not in topic
    library = librdkafka.loaded()
    made: int | None = library.call.topic_new(client, topic.encode(), None) if nameable else None
    if not made:
        raise unable(KafkaError._INVALID_ARG)
    return made


def as_binary(column: pa.Array) -> pa.Array:
    """A column of bytes."""
    kinds = (pa.types.is_binary, pa.types.is_large_binary)
    return column if any(fits(column.type) for fits in kinds) else column.cast(pa.binary())


def _messages(keys: pa.Array, values: pa.Array) -> npt.NDArray[Any]:
    """Messages that point into the columns."""
    messages = np.zeros(len(values), MESSAGE)
    for column, name in ((values, "value"), (keys, "key")):
        messages[name], messages[f"{name}_length"] = parts_of(column)
    return messages


def parts_of(column: pa.Array) -> tuple[Any, Any]:
    """The address (none for a null) and the length of each value of a binary column."""
    if column.null_count == len(column):
        return 0, 0
    _, offsets, data = column.buffers()
    wide = pa.types.is_large_binary(column.type)
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)
    bounds = bounds[column.offset : column.offset + len(column) + 1].astype(np.int64)
    base = data.address if data is not None and data.size else ctypes.addressof(_NOTHING)
    addresses, lengths = bounds[:-1] + base, np.diff(bounds)
    if column.null_count:
        nulls = column.is_null().to_numpy(zero_copy_only=False)
        addresses[nulls] = lengths[nulls] = 0
    return addresses, lengths
