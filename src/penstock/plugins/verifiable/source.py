"""Each task counts: 0, 1, 2, … as fast as configured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import pyarrow as pa

from penstock import __version__
from penstock.plugins.files.file_jail import ROOTS
from penstock.plugins.verifiable.reports import REPORT_KEY, Reports
from penstock.sdk.batches import SourceBatch, record_batch
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import OffsetError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.schema import Schema, to_field
from penstock.sdk.tasks import SourceTask

ID, TOPIC, THROUGHPUT = "id", "topic", "throughput"
COMPLETE: Final = "complete.record.data"
SEQNO: Final = "seqno"
MOST: Final = 5000
"""Records of a batch."""

VERIFIABLE_SOURCE_CONFIG: Final = ConfigDef(
    ConfigKey(TOPIC, importance=Importance.HIGH, doc="The topic to write to."),
    ConfigKey(
        THROUGHPUT,
        Type.LONG,
        default=-1,
        doc="Records a second of each task; below 0 as many as possible.",
    ),
    ConfigKey(
        COMPLETE,
        Type.BOOLEAN,
        default=False,
        doc="Whether values are structures with name, task, topic, time and number instead of "
        "numbers alone.",
    ),
    REPORT_KEY,
)
KEY: Final = to_field(Schema.int32(), "key")
NUMBER: Final = to_field(Schema.int64(), "value")
COMPLETE_VALUE: Final = to_field(
    Schema.struct(
        {
            "name": Schema.string(),
            "task": Schema.int32(),
            "topic": Schema.string(),
            "time_ms": Schema.int64(),
            SEQNO: Schema.int64(),
        }
    ),
    "value",
)


class VerifiableSourceTask(SourceTask):
    """Its source partition is its number, its offset the last number sent."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.tools.VerifiableSourceTask"
    busy = True

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        values = VERIFIABLE_SOURCE_CONFIG.parse(config)
        self._id, self._name = int(config[ID]), config.get("name", "")
        self._topic, self._rate = values[TOPIC], values[THROUGHPUT]
        self._complete = values[COMPLETE]
        known = offsets.get({ID: self._id})
        self._next = self._told = 0 if known is None else int(known[SEQNO]) + 1
        self._first, self._began = self._next, time.monotonic()
        self._reports = Reports(config, name=self._name, task=self._id, topic=self._topic)

    def poll(self) -> SourceBatch | None:
        rows = self._due()
        if not rows:
            return None
        numbers = range(self._next, self._next + rows)
        self._reports.tell({SEQNO: number} for number in numbers)
        self._next = numbers.stop
        return SourceBatch(self._batch(numbers), [({ID: self._id}, {SEQNO: self._next - 1})])

    def _due(self) -> int:
        if self._rate < 0:
            return MOST
        passed = (time.monotonic() - self._began) * self._rate
        return min(MOST, int(passed) - (self._next - self._first))

    def _batch(self, numbers: range) -> pa.RecordBatch:
        value, field = pa.array(numbers, pa.int64()), NUMBER
        if self._complete:
            value, field = self._whole(value), COMPLETE_VALUE
        key = pa.array([self._id] * len(numbers), pa.int32())
        return record_batch(self._topic, value, key=key, key_field=KEY, value_field=field)

    def _whole(self, numbers: pa.Array) -> pa.Array:
        kinds: Any = COMPLETE_VALUE.type
        same = [self._name, self._id, self._topic, time.time_ns() // 1_000_000]
        columns = [
            pa.array([each] * len(numbers), kinds.field(n).type) for n, each in enumerate(same)
        ]
        return pa.StructArray.from_arrays([*columns, numbers], fields=list(kinds))

    def committed(self, offsets: Sequence[ChangedOffset]) -> None:
        for _, offset in offsets:
            if offset is not None:
                told, self._told = self._told, int(offset[SEQNO]) + 1
                self._reports.tell({SEQNO: n, "committed": True} for n in range(told, self._told))


class VerifiableSourceConnector(SourceConnector):
    """``tasks.max`` tasks, each with numbers of its own."""

    config_def: ClassVar[ConfigDef] = VERIFIABLE_SOURCE_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    connect_class: ClassVar[str] = "org.apache.kafka.connect.tools.VerifiableSourceConnector"
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "VerifiableSource",
        "topic": "numbers",
        "throughput": "100",
    }
    task_class: ClassVar[type[SourceTask]] = VerifiableSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = (ID,)
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self._config, ID: str(task)} for task in range(max_tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        return True

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Any number may be the last one sent."""
        for partition, offset in offsets:
            number = 0 if offset is None else offset.get(SEQNO)
            if partition is not None and (not isinstance(number, int) or number < 0):
                raise OffsetError(f"{SEQNO} must be a number from 0 on; it is {number}.")
        return True
