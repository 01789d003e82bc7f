"""One object as batches of records, each with the offset that holds once it is delivered."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import obstore
import pyarrow as pa

from penstock.plugins.objects.keys_in_names import key_from_name
from penstock.plugins.objects.source_bad_records import BadRecords
from penstock.plugins.objects.source_config import (
    COMPRESSION,
    OBJECT_SOURCE_CONFIG,
    TOPIC,
    ignores_changes,
    transformer_of,
)
from penstock.plugins.objects.source_offsets import ObjectEntry
from penstock.plugins.objects.store import Storage, plain_errors
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.batches import record_batch
from penstock.sdk.distribution.name_template import FILE_NAME_TEMPLATE, NameTemplate
from penstock.sdk.errors import ObjectError, RecordError, RetriableError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.sources.s3_offset_entry import DONE, ETAG
from penstock.sdk.transformers.streams import decompressed, stream_of
from penstock.sdk.transformers.transformer import RestoredColumns, TransformedColumns

log = logging.getLogger(__name__)


@dataclass
class Opened:
    """An object that is being downloaded."""

    version: ListedObject
    chunks: Iterator[bytes]


class ObjectReader:
    """Opens objects, and makes batches of them."""

    def __init__(self, storage: Storage, config: Mapping[str, str]) -> None:
        values = OBJECT_SOURCE_CONFIG.parse(config)
        self._storage = storage
        self._transformer = transformer_of(config)
        self._template = NameTemplate(values[FILE_NAME_TEMPLATE])
        self._topic = values[TOPIC]
        self._compression = str(values[COMPRESSION]).lower()
        self._goes_on = ignores_changes(values)
        self._tolerant = config.get("errors.tolerance", "none").strip() == "all"

    def open(self, key: str) -> Opened:
        """Begin to download; FileNotFoundError, RetriableError, UserError."""
        with plain_errors(self._storage, f"Reading {key}"):
            got = obstore.get(self._storage.store, key)
        version = ListedObject.of(got.meta)
        return Opened(version, self._chunks(version, iter(got.stream())))

    def version(self, key: str) -> ListedObject:
        """The object as it is now; errors as those of ``open``."""
        with plain_errors(self._storage, f"Asking for {key}"):
            return ListedObject.of(obstore.head(self._storage.store, key))

    def note_gone(self, entry: ObjectEntry) -> RecordError | None:
        """An object is no longer there: an error if only a part of it was read."""
        key, records = entry.object_key, entry.record_count
        if not records:
            log.warning("object %s was deleted before it was read", key)
            return None
        error = ObjectError(
            f"Object {key} was deleted after {records} of its records were read. Put it back, "
            "or set its offset so that it is passed over.",
            position=records,
        )
        return self._given_up(entry, error)

    def _given_up(self, entry: ObjectEntry, error: ObjectError) -> RecordError:
        """The rest of an object, as one bad record: with its letter, the object is finished."""
        if not self._tolerant:
            raise error
        log.error("%s The rest of it is passed over, by errors.tolerance=all.", error)
        passed = entry.from_properties(entry.get_properties())
        passed.set_bool(DONE, True)
        return passed.bad_record(str(error))

    def _chunks(self, opened: ListedObject, stream: Iterator[Any]) -> Iterator[bytes]:
        size = 0
        with plain_errors(self._storage, f"Reading {opened.key}"):
            for chunk in stream:
                size += len(chunk)
                yield chunk
        if size != opened.size:
            text = f"Object {opened.key} has changed while it was read: it had {opened.size} bytes"
            raise RetriableError(f"{text}, and {size} came.")

    def begin(self, entry: ObjectEntry, version: ListedObject) -> ObjectEntry:
        """The entry for this version: from the start, if another one was read in part."""
        before = entry.get_string(ETAG)
        if before and before != version.etag and entry.record_count and not self._goes_on:
            log.warning(
                "object %s has changed after %d of its records were read; it is read again",
                version.key,
                entry.record_count,
            )
            entry = entry.from_properties({})
        entry.note_version(version)
        return entry

    def batches(self, entry: ObjectEntry, opened: Opened) -> Iterator[pa.RecordBatch | RecordError]:
        """Records, and bad ones where they are tolerated; ``entry`` is as it is once they are
        delivered."""
        context = self._context(opened.version.key)
        bad = BadRecords(entry)
        try:
            for found in self._columns(opened, context, entry.record_count, bad):
                yield from bad.before(found)
                entry.increment_record_count(found.position - entry.record_count)
                yield self._records(found, context)
            yield from bad.rest()
        except ObjectError as error:
            yield from bad.rest()
            yield self._given_up(entry, error)

    def _columns(
        self, opened: Opened, context: ObjectContext, skip: int, bad: BadRecords
    ) -> Iterator[TransformedColumns]:
        stream = decompressed(stream_of(opened.chunks), self._compression)
        taken = bad.take if self._tolerant else None
        try:
            yield from self._transformer.columns(stream, context, skip, taken)
        except RecordError as error:
            raise ObjectError(
                f"{str(error).removesuffix('.')}. Replace the object, set its recordCount to "
                f"{error.row} to pass over this record, or set errors.tolerance=all.",
                position=error.row - 1,
            ) from None

    def _context(self, key: str) -> ObjectContext:
        return self._template.match(key) or ObjectContext(key)

    def _records(self, found: TransformedColumns, context: ObjectContext) -> pa.RecordBatch:
        rows, partition = len(found.value), context.partition
        return record_batch(
            self._topic or context.topic or "",
            found.value,
            value_field=found.value_field,
            partition=None
            if partition is None
            else pa.repeat(pa.scalar(partition, pa.int32()), rows),
            **self._beside(found, context),
        )

    def _beside(self, found: TransformedColumns, context: ObjectContext) -> dict[str, Any]:
        """What the object says of each record, or the same key for all."""
        if isinstance(found, RestoredColumns):
            names = ("key", "key_field", "timestamp", "headers")
            return {name: getattr(found, name) for name in names}
        key = self._transformer.key(context).value
        if context.key is not None:
            key = key_from_name(context.key)
        return {"key": pa.repeat(pa.scalar(key, pa.binary()), len(found.value))}
