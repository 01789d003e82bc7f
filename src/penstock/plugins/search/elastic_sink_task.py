"""Writes records as documents, with bulk requests."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.plugins.search.bulk_writer import BulkWriter
from penstock.plugins.search.indexes import Indexes
from penstock.plugins.search.operations import by_topic, operations_of
from penstock.plugins.search.search_client import SearchClient
from penstock.plugins.search.sink_settings import SinkSettings
from penstock.sdk.errors import RecordError
from penstock.sdk.tasks import SinkTask

log = logging.getLogger(__name__)


class ElasticsearchSinkTask(SinkTask):
    """Whatever ``put`` has returned for is in the index; there is nothing to flush.

    A bulk request may be carried out in part. Writing a record again does no harm: its document
    has the same id, and with a key the same version, which the server does not take twice.
    """

    connect_class: ClassVar[str] = "io.confluent.connect.elasticsearch.ElasticsearchSinkTask"
    wants_headers = False
    wants_timestamps = False

    def start(self, config: Mapping[str, str]) -> None:
        self.stop()  # what an earlier start has left
        self._settings = SinkSettings.of(config)
        self._client = SearchClient(self._settings.server)
        self._writer = BulkWriter(self._client, self._settings)
        self._indexes = Indexes(self._client, self._settings)
        # Those who may only write documents may not ask for this, and some services lack it.
        self._client.request("GET", "/", "connecting", accepted=(200, 403, 404))

    def put(self, batch: pa.RecordBatch) -> None:
        operations = operations_of(batch, self._settings, self.position_of(batch))
        if not self._settings.drop_invalid or self._settings.tolerant:
            for row, why in operations.invalid.items():
                raise RecordError(why, row=row)
        for row, why in operations.invalid.items():
            log.error("Skipped a record (%s): %s", _place(batch, row), why)
        self._ensure_indexes(batch)
        refused = self._writer.write(operations.made)
        for row, why in refused.items():
            self._handle_malformed(batch, row, why)
        self._writer.forget(operations.made)

    def flush(self) -> str:
        self._writer.forget_all()  # the records that were set aside
        if self._writer.older:
            log.info(
                "%d records were not written, since their documents have the same or a newer "
                "version. That is so after a restart, or when offsets were set back. If the topic "
                "was recreated, write to another index.",
                self._writer.older,
            )
            self._writer.older = 0
        return ""

    def stop(self) -> None:
        if hasattr(self, "_writer"):
            self._writer.close()
            self._client.close()

    def _ensure_indexes(self, batch: pa.RecordBatch) -> None:
        for topic, _, part in by_topic(batch):
            value = part.column("value")
            if value.null_count < len(value):
                self._indexes.ensure(topic, batch.schema.field("value"))

    def _handle_malformed(self, batch: pa.RecordBatch, row: int, why: str) -> None:
        behavior = self._settings.on_malformed
        if behavior == "fail" or self._settings.tolerant:
            raise RecordError(f"The server refused the document: {why}", row=row)
        if behavior == "warn":
            log.warning("Skipped a record that was refused (%s): %s", _place(batch, row), why)


def _place(batch: pa.RecordBatch, row: int) -> str:
    topic, partition, offset = (batch.column(n)[row] for n in ("topic", "partition", "offset"))
    return f"topic {topic.as_py()}, partition {partition.as_py()}, offset {offset.as_py()}"
