"""Records as operations of the bulk API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.search.document_ids import NO_KEY, ids_of
from penstock.plugins.search.documents import json_texts
from penstock.plugins.search.sink_settings import SinkSettings
from penstock.sdk.tasks import PartitionId

NO_VALUE: Final = (
    "The record has no value. Set 'behavior.on.null.values' to delete or ignore if such records "
    "are expected."
)
NO_OBJECT: Final = (
    "The record's value is not an object with fields, which a document must be. Use a converter "
    "that yields one, JsonConverter for example."
)
_RETRIES_ON_CONFLICT: Final = 5


class Operation(NamedTuple):
    """What is done for one record; ``lines`` are those of a bulk request."""

    row: int
    offset: int
    lines: bytes
    deletes: bool


@dataclass(frozen=True)
class Operations:
    """What is done for one batch, in the order of its records, and what cannot be done."""

    made: list[Operation]
    invalid: Mapping[int, str]
    """Why a record cannot be a document, by its row."""


def operations_of(
    batch: pa.RecordBatch, settings: SinkSettings, position: PartitionId
) -> Operations:
    """Records that are to be skipped are in neither part. They were read from ``position``."""
    made: list[Operation] = []
    invalid: dict[int, str] = {}
    parts = list(by_topic(batch))
    for topic, rows, part in parts:
        found = _Part(part, topic, settings, position)
        every = zip(rows, found.offsets, found.lines, found.deletes, strict=True)
        made += [Operation(r, at, lines, gone) for r, at, lines, gone in every if lines is not None]
        invalid |= {rows[row]: why for row, why in found.invalid.items()}
    if len(parts) > 1:
        made.sort(key=lambda each: each.row)
    return Operations(made, dict(sorted(invalid.items())))


def by_topic(batch: pa.RecordBatch) -> Iterator[tuple[str, list[int], pa.RecordBatch]]:
    """The rows of each topic: a transform may have given each record another one."""
    topics = batch.column("topic").cast(pa.string())
    names = pc.unique(topics).to_pylist()
    for name in names:
        if len(names) == 1:
            yield name, list(range(batch.num_rows)), batch
        else:
            rows = pc.indices_nonzero(pc.equal(topics, name))
            yield name, rows.to_pylist(), batch.take(rows)


class _Part:
    """The operations of records that have the same topic."""

    def __init__(
        self, batch: pa.RecordBatch, topic: str, settings: SinkSettings, position: PartitionId
    ) -> None:
        self._batch, self._topic, self._settings = batch, topic, settings
        self._position = position
        self._index = orjson.dumps(settings.index(topic)).decode()
        self.offsets: list[int] = batch.column("offset").to_pylist()
        value = batch.column("value")
        gone = value.is_null()
        self.deletes: list[bool] = gone.to_pylist()
        self.invalid: dict[int, str] = {}
        ids = self._ids(gone)
        texts = pc.if_else(gone, self._deletions(ids), self._writes(ids, value))
        self.lines: list[bytes | None] = texts.cast(pa.binary()).to_pylist()
        for row in self.invalid:
            self.lines[row] = None

    def _ids(self, gone: Any) -> Any:
        """As JSON texts; null for a record that is skipped or invalid."""
        deleting = self._settings.on_null == "delete"
        if self._settings.on_null == "fail":
            self._blame(gone, NO_VALUE)
        if self._settings.ignores_key(self._topic):
            # Such ids are of single records: there is nothing that a tombstone could delete.
            return pc.if_else(gone, pa.scalar(None, pa.string()), self._coordinates())
        ids, wrong = ids_of(self._batch.column("key"))
        if not deleting:
            wrong = {row: why for row, why in wrong.items() if not self.deletes[row]}
        self.invalid = {**wrong, **self.invalid}
        self._blame(pc.and_(pc.is_null(ids), pc.invert(gone)), NO_KEY)
        known = json_texts(ids)
        missing = pc.is_null(ids) if deleting else pc.or_(pc.is_null(ids), gone)
        return pc.if_else(missing, pa.scalar(None, pa.string()), known)

    def _blame(self, mask: Any, why: str) -> None:
        for row in pc.indices_nonzero(mask).to_pylist():
            self.invalid.setdefault(row, why)

    def _coordinates(self) -> Any:
        """Of the topic that was read: those that transforms make of several may be one."""
        topic, partition = self._position
        opening = orjson.dumps(f"{topic}+{partition}+").decode().removesuffix('"')
        return _joined(opening, self._batch.column("offset").cast(pa.string()), '"')

    def _writes(self, ids: Any, value: Any) -> Any:
        documents = json_texts(value, compact_maps=self._settings.compact_maps)
        objects = pc.starts_with(pc.utf8_ltrim_whitespace(documents), "{")
        self._blame(pc.and_(pc.invert(objects), value.is_valid()), NO_OBJECT)
        if self._settings.upsert:
            more = f',"retry_on_conflict":{_RETRIES_ON_CONFLICT}'
            before, after = '{"doc":', ',"doc_as_upsert":true}\n'
            parts = self._action("update", ids, more)
        else:
            before, after = "", "\n"
            parts = self._action("index", ids, self._version())
        return _joined(*parts, before, documents, after)

    def _deletions(self, ids: Any) -> Any:
        return _joined(*self._action("delete", ids, self._version()))

    def _action(self, name: str, ids: Any, more: Any) -> tuple[Any, ...]:
        return f'{{"{name}":{{"_index":{self._index},"_id":', ids, more, "}}\n"

    def _version(self) -> Any:
        """Servers refuse a version that is not greater than the document's."""
        if self._settings.upsert or self._settings.ignores_key(self._topic):
            return ""
        offsets = self._batch.column("offset").cast(pa.string())
        return _joined(',"version":', offsets, ',"version_type":"external"')


def _joined(*parts: Any) -> Any:
    """Null where a part is null."""
    return pc.binary_join_element_wise(*parts, "")
