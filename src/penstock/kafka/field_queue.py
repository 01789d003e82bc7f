"""Puts records with headers, timestamps or partitions of their own into a producer's queue.

The C library's call for arrays of messages takes none of these. Its call for one record takes an
array of fields, and those of many records can be made from Arrow's columns at once. What is left
for each record is the call, without a Python object for any of its parts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, Producer

from penstock.kafka import librdkafka
from penstock.kafka.column_queue import COPY, as_binary, parts_of, topic_handle, unable
from penstock.kafka.librdkafka import FIELD, handle

AT_ONCE: Final = 1000
"""Records whose fields are made at a time: some 500 bytes each."""

_TOPIC, _PARTITION, _VALUE, _KEY, _FLAGS, _TIMESTAMP, _HEADER = 2, 3, 4, 5, 7, 8, 9
_ALWAYS: Final = (_TOPIC, _VALUE, _KEY, _FLAGS, _PARTITION, _TIMESTAMP)
"""The fields of every record, in this order; its headers follow."""
_ANY_PARTITION, _NOW = -1, 0

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class _Prepared:
    """Some records, as the library takes them."""

    fields: Numbers
    starts: Numbers
    """The number of each record's first field."""
    counts: Numbers
    kept: Any
    """What the fields point into, besides keys and values."""


class FieldQueue:
    """Puts the records of a batch into a producer's queue, in order.

    Only where ``takes_columns``. ``batch`` has the columns of ``penstock.sdk.batches``; its keys
    and values are given as they were encoded.
    """

    def __init__(
        self, producer: Producer, batch: pa.RecordBatch, keys: pa.Array, values: pa.Array
    ) -> None:
        self._producer = producer
        self._batch, self._keys, self._values = batch, as_binary(keys), as_binary(values)
        self._done = 0

    @property
    def topic(self) -> str:
        """The topic of the next record, which is the one at fault after an error."""
        return str(self._batch.column("topic")[self._done].as_py())

    def push(self) -> bool:
        """Queue the remaining records; False if the queue fills up first.

        Raises KafkaException if a record is rejected. Those before it have been queued, so the
        transaction must not be committed.
        """
        with self._topics() as topics:
            while self._done < len(self._values):
                count = min(AT_ONCE, len(self._values) - self._done)
                if not self._push_some(self._prepared(self._done, count, topics)):
                    return False
        return True

    def _push_some(self, some: _Prepared) -> bool:
        brief, client = librdkafka.loaded().brief, handle(self._producer)
        produce = brief.produceva
        addresses = (some.starts * FIELD.itemsize + some.fields.ctypes.data).tolist()
        for address, count in zip(addresses, some.counts.tolist(), strict=True):
            error = produce(client, address, count)
            if error:
                code = brief.error_code(error)
                brief.error_destroy(error)
                if code == KafkaError._QUEUE_FULL:
                    return False
                raise unable(code)
            self._done += 1
        return True

    @contextmanager
    def _topics(self) -> Iterator[Numbers]:
        """The library's handle of each topic in the column's dictionary, where it is used.

        A handle makes the library ask for the topic, and brokers may then create it.
        """
        column = self._batch.column("topic")
        handles = np.zeros(len(column.dictionary), np.uint64)
        try:
            for place in pc.unique(column.indices).to_pylist():
                handles[place] = topic_handle(self._producer, column.dictionary[place].as_py())
            yield handles
        finally:
            for made in handles[handles != 0].tolist():
                librdkafka.loaded().call.topic_destroy(made)

    def _prepared(self, first: int, count: int, topics: Numbers) -> _Prepared:
        headers = self._batch.column("headers").slice(first, count)
        lengths = pc.fill_null(pc.list_value_length(headers), 0).to_numpy(zero_copy_only=False)
        fields = np.zeros(count * len(_ALWAYS) + int(lengths.sum()), FIELD)
        starts = np.arange(count) * len(_ALWAYS) + np.cumsum(lengths) - lengths
        self._add_always(fields, starts, self._batch.slice(first, count), topics, first)
        kept = _add_headers(fields, lengths, headers) if lengths.any() else None
        return _Prepared(fields, starts, lengths + len(_ALWAYS), kept)

    def _add_always(
        self, fields: Numbers, starts: Numbers, rows: pa.RecordBatch, topics: Numbers, first: int
    ) -> None:
        indices = rows.column("topic").indices.to_numpy(zero_copy_only=False)
        columns: dict[int, Any] = {_TOPIC: topics[indices], _FLAGS: COPY}
        for kind, column in ((_VALUE, self._values), (_KEY, self._keys)):
            columns[kind], sizes = parts_of(column.slice(first, len(starts)))
            fields["second"][starts + _ALWAYS.index(kind)] = sizes
        columns[_PARTITION] = _numbers(rows.column("partition"), _ANY_PARTITION)
        columns[_TIMESTAMP] = _numbers(rows.column("timestamp"), _NOW)
        for place, kind in enumerate(_ALWAYS):
            fields["kind"][starts + place] = kind
            fields["first"][starts + place] = columns[kind]


def _numbers(column: pa.Array, missing: int) -> Numbers:
    filled: Numbers = pc.fill_null(column, missing).to_numpy(zero_copy_only=False)
    return filled.astype(np.int64).view(np.uint64)


def _add_headers(fields: Numbers, lengths: Numbers, headers: pa.ListArray) -> Any:
    """Adds those of each record behind its other fields; what they point into."""
    behind = np.repeat(np.arange(1, len(lengths) + 1), lengths) * len(_ALWAYS)
    places = behind + np.arange(len(behind))
    names, values = headers.flatten().flatten()
    values = as_binary(values)
    fields["kind"][places] = _HEADER
    fields["first"][places], kept = _name_addresses(names)
    fields["second"][places], fields["third"][places] = parts_of(values)
    return kept, values


def _name_addresses(names: pa.Array) -> tuple[Numbers, Any]:
    """The address of each name, which the library expects to end with a zero."""
    known = names.dictionary_encode()
    texts = [name.encode() + b"\0" for name in known.dictionary.to_pylist()]
    kept = ctypes.create_string_buffer(b"".join(texts))
    ends = np.cumsum([len(text) for text in texts])
    starts = ends - [len(text) for text in texts] + ctypes.addressof(kept)
    return starts[known.indices.to_numpy(zero_copy_only=False)].astype(np.uint64), kept
