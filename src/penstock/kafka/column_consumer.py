"""A consumer that returns Arrow columns, without a Python object per record.

It uses the C library's own functions: a consumer of confluent_kafka has callbacks that may run only
inside its own calls.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from penstock.kafka.client_errors import gets_over
from penstock.kafka.librdkafka import MESSAGE
from penstock.kafka.raw_consumer import RawConsumer

_WINDOW_BITS: Final = 24
"""Limit on the span of memory from which values are copied in one piece: Arrow allocates half of
the distance between the first and the last value, whatever is in between."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """Records of one partition, in order."""

    topic: str
    partition: int
    offsets: Ints
    keys: pa.Array
    values: pa.Array
    timestamps: pa.Array | None


@dataclass(frozen=True)
class Signal:
    """Not a record but the end of a partition, or an error; ``topic`` is empty if it names none."""

    error: KafkaError
    topic: str = ""
    partition: int = 0
    offset: int = 0


class ColumnConsumer(RawConsumer):
    """Reads partitions from given offsets. Not thread-safe.

    Only where ``librdkafka.available``.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        starts: Mapping[tuple[str, int], int],
        *,
        timestamps: bool,
    ) -> None:
        """KafkaException if the settings, which are confluent_kafka's, are invalid."""
        self._timestamps = timestamps
        self._errors: deque[Signal] = deque(maxlen=100)
        super().__init__(settings, self._note_error)
        self._queue = self._library.call.queue_get_consumer(self._client)
        try:
            self._assign(starts)
        except BaseException:
            self.close()
            raise

    def _assign(self, starts: Mapping[tuple[str, int], int]) -> None:
        call = self._library.call
        partitions = call.topic_partition_list_new(len(starts))
        try:
            for (topic, partition), offset in starts.items():
                call.topic_partition_list_add(partitions, topic.encode(), partition)
                call.topic_partition_list_set_offset(partitions, topic.encode(), partition, offset)
            code = call.assign(self._client, partitions)
        finally:
            call.topic_partition_list_destroy(partitions)
        if code:
            raise KafkaException(KafkaError(code))

    def _note_error(self, error: KafkaError) -> None:
        if not gets_over(error):
            self._errors.append(Signal(error))

    def close(self) -> None:
        """Destroy the client; may be called twice."""
        if self._client is not None:
            self._library.call.queue_destroy(self._queue)
        super().close()

    def take(self, most: int, patience: float) -> tuple[list[Run], list[Signal]]:
        """At most ``most`` records, and signals; waits up to ``patience`` seconds for the first."""
        pointers = np.empty(most, np.int64)
        count = self._into(pointers[:1], patience)
        if count and most > 1:
            count += self._into(pointers[1:], 0)
        try:
            runs, signals = self._read(pointers[:count]) if count else ([], [])
        finally:
            deque(map(self._library.brief.message_destroy, pointers[:count].tolist()), maxlen=0)
        while self._errors:
            signals.append(self._errors.popleft())
        return runs, signals

    def _into(self, pointers: Ints, patience: float) -> int:
        milliseconds = int(patience * 1000)
        consume = self._library.call.consume_batch_queue
        return max(0, int(consume(self._queue, milliseconds, pointers.ctypes.data, len(pointers))))

    def _read(self, pointers: Ints) -> tuple[list[Run], list[Signal]]:
        good = _Fields(pointers).small("error") == 0
        if good.all():
            return list(self._runs(_Fields(pointers))), []
        runs = list(self._runs(_Fields(pointers[good]))) if good.any() else []
        return runs, self._signals(_Fields(pointers[~good]))

    def _runs(self, fields: _Fields) -> Iterator[Run]:
        for part in fields.by_partition():
            yield Run(
                self._topic(part.large("topic")[0]),
                int(part.small("partition")[0]),
                part.large("offset"),
                _gathered(part.large("key"), part.large("key_length")),
                _gathered(part.large("value"), part.large("value_length")),
                self._times(part.pointers) if self._timestamps else None,
            )

    def _times(self, pointers: Ints) -> pa.Array:
        times = map(self._library.brief.message_timestamp, pointers.tolist(), repeat(None))
        return pa.array(times, pa.int64(), size=len(pointers))

    def _signals(self, fields: _Fields) -> list[Signal]:
        """For an error, the value is its text."""
        texts = _gathered(fields.large("value"), fields.large("value_length")).to_pylist()
        columns = zip(
            fields.small("error").tolist(),
            texts,
            fields.large("topic").tolist(),
            fields.small("partition").tolist(),
            fields.large("offset").tolist(),
            strict=True,
        )
        return [
            Signal(KafkaError(code, (text or b"").decode(errors="replace")), self._topic(t), p, o)
            for code, text, t, p, o in columns
        ]

    def _topic(self, pointer: int) -> str:
        name = self._library.brief.topic_name(int(pointer)) if pointer else b""
        return str(name.decode())


class _Fields:
    """The fields of messages scattered in memory, each as an array."""

    def __init__(self, pointers: Ints) -> None:
        self.pointers = pointers
        # A view of everything between the first and the last; only the messages are read.
        self._base = int(pointers.min())
        words = (int(pointers.max()) - self._base + MESSAGE.itemsize) // 8
        self._words = np.ctypeslib.as_array((ctypes.c_int64 * words).from_address(self._base))
        self._at = (pointers - self._base) // 8

    def large(self, name: str) -> Ints:
        """A field of eight bytes."""
        return self._words[self._at + _place(name) // 8]

    def small(self, name: str) -> npt.NDArray[np.int32]:
        """A field of four bytes, padded to eight."""
        return self.large(name).astype(np.int32)

    def by_partition(self) -> list[_Fields]:
        """The messages of each partition, in their order."""
        topics, partitions = self.large("topic"), self.small("partition")
        if (topics == topics[0]).all() and (partitions == partitions[0]).all():
            return [self]
        order = np.lexsort((partitions, topics))
        changes = (np.diff(topics[order]) != 0) | (np.diff(partitions[order]) != 0)
        groups = np.split(self.pointers[order], np.flatnonzero(changes) + 1)
        return [_Fields(group) for group in groups]


def _place(name: str) -> int:
    assert MESSAGE.fields is not None  # noqa: S101 (it is a structure)
    return MESSAGE.fields[name][1]


def _gathered(addresses: Ints, lengths: Ints) -> pa.Array:
    """The bytes at these addresses, copied; null where there is no address."""
    present = addresses != 0
    if present.all():
        return _copied(addresses, lengths)
    if not present.any():
        return pa.nulls(len(addresses), pa.binary())
    rows = pa.array(np.cumsum(present) - 1, mask=~present)
    return _copied(addresses[present], lengths[present]).take(rows)


def _copied(addresses: Ints, lengths: Ints) -> pa.Array:
    elsewhere = np.diff(addresses >> _WINDOW_BITS) != 0
    cuts = np.flatnonzero((np.diff(addresses) < 0) | elsewhere) + 1
    if len(cuts) == 0:
        return _copied_upwards(addresses, lengths)
    parts = zip(np.split(addresses, cuts), np.split(lengths, cuts), strict=True)
    return pa.concat_arrays([_copied_upwards(*part) for part in parts])


def _copied_upwards(addresses: Ints, lengths: Ints) -> pa.Array:
    """Values stored one after the other, with gaps: every second element of an array of both."""
    rows, base = len(addresses), int(addresses[0])
    bounds = np.empty(2 * rows + 1, np.int32)
    bounds[0:-1:2] = addresses - base
    bounds[1::2] = addresses - base + lengths
    bounds[-1] = bounds[-2]
    memory = pa.foreign_buffer(base, max(1, int(bounds[-1])))
    both = pa.Array.from_buffers(
        pa.binary(), 2 * rows, [None, pa.py_buffer(bounds), memory], null_count=0
    )
    return both.take(pa.array(np.arange(0, 2 * rows, 2, dtype=np.int32)))
