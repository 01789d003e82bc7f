"""The object sink with a clock that tests move, and with a diary of its leases.

``clock`` is a file with milliseconds. Beside it, ``<clock>.leases`` gets the process of each lease,
and ``<clock>.put`` the offset after the last record that was put.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from penstock.plugins.objects.sink_config import OBJECT_SINK_CONFIG
from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.sdk import ConfigDef, ConfigKey, SinkTask


class ClockedObjectSinkTask(ObjectSinkTask):
    """As its parent, by the clock."""

    def start(self, config: Mapping[str, str]) -> None:
        self.clock = Path(config["clock"])
        super().start(config)
        with Path(f"{self.clock}.leases").open("a") as diary:
            diary.write(f"{os.getpid()}\n")

    def now(self) -> int:
        return int(self.clock.read_text())

    def put(self, batch: pa.RecordBatch) -> None:
        super().put(batch)
        Path(f"{self.clock}.put").write_text(str(batch.column("offset")[-1].as_py() + 1))


class ClockedObjectSinkConnector(ObjectSinkConnector):
    """As its parent, by the clock."""

    config_def = OBJECT_SINK_CONFIG + ConfigDef(ConfigKey("clock"))
    task_class: ClassVar[type[SinkTask]] = ClockedObjectSinkTask
    aliases: ClassVar[tuple[str, ...]] = ()
