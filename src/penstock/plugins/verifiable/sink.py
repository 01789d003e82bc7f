"""Tells of every record that it is given, and again when it is flushed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import pyarrow as pa

from penstock import __version__
from penstock.plugins.files.file_jail import ROOTS
from penstock.plugins.verifiable.reports import REPORT_KEY, Reports
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector, TopicPartition
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.tasks import SinkTask

VERIFIABLE_SINK_CONFIG: Final = ConfigDef(REPORT_KEY)


class VerifiableSinkTask(SinkTask):
    """Its target is the report: at least once."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.tools.VerifiableSinkTask"
    wants_headers = False
    wants_timestamps = False

    def start(self, config: Mapping[str, str]) -> None:
        fields = {"name": config.get("name", ""), "task": int(config["id"]), "sink": True}
        self._reports = Reports(config, **fields)
        self._unflushed: list[dict[str, Any]] = []

    def put(self, batch: pa.RecordBatch) -> None:
        columns = (batch.column(name).to_pylist() for name in ("topic", "value", "offset"))
        records = [
            {"topic": topic, "seqno": value, "offset": offset}
            for topic, value, offset in zip(*columns, strict=True)
        ]
        self._reports.tell(records)
        self._unflushed += records

    def flush(self) -> str:
        self._reports.tell({**record, "flushed": True} for record in self._unflushed)
        self._unflushed = []
        return ""


class VerifiableSinkConnector(SinkConnector):
    """``tasks.max`` tasks."""

    config_def: ClassVar[ConfigDef] = VERIFIABLE_SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.AT_LEAST_ONCE
    guarantee_limits: ClassVar[str] = "since nothing takes a report back"
    connect_class: ClassVar[str] = "org.apache.kafka.connect.tools.VerifiableSinkConnector"
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "VerifiableSink",
        "topics": "numbers",
    }
    task_class: ClassVar[type[SinkTask]] = VerifiableSinkTask
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**each, "id": str(n)} for n, each in enumerate(super().task_configs(max_tasks))]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """Accepts all: records that are read again are told again."""
        return True
