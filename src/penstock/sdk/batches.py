"""Records as Arrow batches: the one form in which they move.

A batch of records is a ``pyarrow.RecordBatch`` with these columns, in this order:

==============  ====================================================  =====================
column          Arrow type                                            null means
==============  ====================================================  =====================
``topic``       dictionary<int32, string>                             never null
``partition``   int32                                                 the partitioner decides
``key``         any type of ``penstock.sdk.schema``                   no key
``value``       any type of ``penstock.sdk.schema``                   tombstone
``timestamp``   int64, milliseconds since the epoch                   the producer's clock
``headers``     list<struct<key: string, value: binary>>              no headers
==============  ====================================================  =====================

Batches on their way to a sink carry one more, ``offset`` (int64), and hold the records of exactly
one topic-partition, in offset order; ``topic`` is another one if a transform has changed it. The
field of ``key`` and of ``value`` carries the Connect schema in its metadata (see
``penstock.sdk.schema``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from penstock.sdk.offsets import ChangedOffset

TOPIC = pa.dictionary(pa.int32(), pa.string())
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
COLUMNS = ("topic", "partition", "key", "value", "timestamp", "headers")


@dataclass(frozen=True)
class SourceBatch:
    """What one ``poll`` returns: records, and the source's offsets once they are all delivered.

    The records and the offsets are committed in one transaction; the worker never splits a batch
    over two, so a batch should stay well below 100,000 records and 32 MB.

    An offset of None forgets its source partition: the stored offset is deleted, and no later lease
    gets it. A batch may have no records at all (``offsets_only``), and still moves and forgets.
    """

    records: pa.RecordBatch
    offsets: Sequence[ChangedOffset]


FEW = 4


def offsets_only(offsets: Sequence[ChangedOffset]) -> SourceBatch:
    """A batch that moves or forgets source partitions, in its place among those with records."""
    return SourceBatch(record_batch("", pa.nulls(0)), offsets)


def constant_topic(topic: str, rows: int) -> pa.DictionaryArray:
    """A topic column that costs four bytes a row."""
    return _few_of(topic, rows) if rows <= FEW else _constant(topic, rows)


@lru_cache(maxsize=1000)
def _few_of(topic: str, rows: int) -> pa.DictionaryArray:
    """Kept: most batches of a trickle are alike."""
    return _constant(topic, rows)


def _constant(topic: str, rows: int) -> pa.DictionaryArray:
    indices = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(indices, pa.array([topic]))


def record_batch(
    topic: str | pa.Array,
    value: pa.Array,
    *,
    key: pa.Array | None = None,
    value_field: pa.Field | None = None,
    key_field: pa.Field | None = None,
    partition: pa.Array | None = None,
    timestamp: pa.Array | None = None,
    headers: pa.Array | None = None,
    offset: pa.Array | None = None,
) -> pa.RecordBatch:
    """A batch in the layout above; what is left out is null in every row."""
    rows = len(value)
    key = pa.nulls(rows) if key is None else key
    arrays = [
        constant_topic(topic, rows) if isinstance(topic, str) else topic,
        pa.nulls(rows, pa.int32()) if partition is None else partition,
        key,
        value,
        pa.nulls(rows, pa.int64()) if timestamp is None else timestamp,
        pa.nulls(rows, HEADERS) if headers is None else headers,
    ]
    fields = [
        pa.field("topic", TOPIC),
        pa.field("partition", pa.int32()),
        (key_field or pa.field("key", key.type)).with_name("key"),
        (value_field or pa.field("value", value.type)).with_name("value"),
        pa.field("timestamp", pa.int64()),
        pa.field("headers", HEADERS),
    ]
    if offset is not None:
        arrays.append(offset)
        fields.append(pa.field("offset", pa.int64()))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
