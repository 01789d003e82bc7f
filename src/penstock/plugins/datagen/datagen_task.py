"""Makes records, in Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa

from penstock.plugins.datagen.datagen_config import DATAGEN_CONFIG, KAFKA_TOPIC, RANDOM_SEED
from penstock.plugins.datagen.datagen_offsets import TASK_ID, standing
from penstock.plugins.datagen.draws import Draws
from penstock.plugins.datagen.makers import maker
from penstock.plugins.datagen.pacing import Clock, Pacing
from penstock.plugins.datagen.recipe import recipe_of
from penstock.sdk.batches import SourceBatch, record_batch
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

MOST_RECORDS: Final = 10_000


class DatagenTask(SourceTask):
    """One sequence of records, continued where its offset says."""

    connect_class: ClassVar[str] = "io.confluent.kafka.connect.datagen.DatagenTask"

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self._recipe = recipe_of(config)
        self._topic: str = DATAGEN_CONFIG[KAFKA_TOPIC].read(config)
        seed = DATAGEN_CONFIG[RANDOM_SEED].read(config)
        self._standing = standing(int(config.get(TASK_ID, "0")), offsets, seed)
        self._next = self._standing.iteration
        draws = Draws(self._standing.seed, f"task {self._standing.task}")
        self._make = maker(self._recipe.avro, draws)
        self._clock = Clock(Pacing.of(config), self._next)
        self._row_bytes = 100.0

    def poll(self) -> SourceBatch | None:
        room = max(1, min(MOST_RECORDS, int(self.batch_bytes / self._row_bytes)))
        count = self._clock.take(room)
        return self._batch(count) if count else None

    def _batch(self, count: int) -> SourceBatch:
        numbers = np.arange(self._next, self._next + count, dtype=np.uint64)
        value = self._make(numbers).cast(self._recipe.field.type)
        self._row_bytes = max(1.0, value.nbytes / count)
        self._next += count
        key, key_field = self._key(value)
        records = record_batch(
            self._topic, value, key=key, value_field=self._recipe.field, key_field=key_field
        )
        return SourceBatch(records, [(self._standing.partition, self._standing.offset(self._next))])

    def _key(self, value: pa.StructArray) -> tuple[pa.Array | None, pa.Field | None]:
        name = self._recipe.key_field
        return (None, None) if name is None else (value.field(name), value.type.field(name))
