"""Reads partitions of the source cluster."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from penstock.plugins.mirror.mirror_offsets import MirroredPartition
from penstock.plugins.mirror.mirror_settings import MirrorSettings
from penstock.plugins.mirror.record_reader import RecordReader
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import RetriableError, UserError
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

log = logging.getLogger(__name__)

PARTITIONS: Final = "penstock.mirror.partitions"
"""The key, in a task's configuration, of its share of the partitions."""
PROBLEM: Final = "penstock.mirror.problem"
"""What kept the connector from dealing them out, for the tasks to tell."""
PASSES: Final = "penstock.mirror.problem.passes"
MOST_RECORDS: Final = 10_000
FIRST_BYTES: Final = 1_000.0


class MirrorSourceTask(SourceTask):
    """One consumer, for as long as the lease lasts."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.mirror.MirrorSourceTask"

    _reader: RecordReader | None = None

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._problem, self._passes = config.get(PROBLEM), PASSES in config
        if self._problem and not self._passes:
            raise UserError(self._problem)
        settings = MirrorSettings.of(config)
        shared = json.loads(config.get(PARTITIONS, "[]"))
        partitions = [MirroredPartition(*each) for each in shared]
        self._tell_replaced(settings.alias, partitions, offsets)
        starts = {p: p.next(settings.alias, offsets) for p in partitions}
        self._record_bytes = FIRST_BYTES
        if starts:
            self._reader = RecordReader(settings, starts)
            self.busy = True

    def poll(self) -> SourceBatch | None:
        if self._problem:
            raise RetriableError(self._problem)
        if self._reader is None:
            return None
        most = max(1, min(MOST_RECORDS, int(self.batch_bytes / self._record_bytes)))
        batch = self._reader.take(most)
        self.busy = batch is None and bool(self._reader.unseen)
        if batch is not None and batch.records.num_rows:
            self._record_bytes = max(1.0, batch.records.nbytes / batch.records.num_rows)
        return batch

    def finish(self) -> Iterable[SourceBatch]:
        """What has no records was read as well, and is not looked at again."""
        passed = [] if self._reader is None else self._reader.passed()
        return [offsets_only(passed)] if passed else []

    def stop(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    @staticmethod
    def _tell_replaced(
        alias: str, partitions: list[MirroredPartition], offsets: OffsetReader
    ) -> None:
        for partition in partitions:
            stored = partition.stored(alias, offsets)
            if stored is not None and partition.is_other(stored):
                log.warning(
                    "topic %s was deleted and created again in the source cluster %s: partition %d "
                    "is mirrored from its beginning",
                    partition.topic,
                    alias,
                    partition.partition,
                )
