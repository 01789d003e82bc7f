"""A sink that appends what it is given to a file, and can be told to refuse or to dawdle."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from penstock.sdk import ConfigDef, ConfigKey, RecordError, SinkConnector, SinkTask, Type

KEYS = ConfigDef(
    ConfigKey("out", doc="Folder that gets a file per task."),
    ConfigKey("refuse", default="", doc="A value that is refused."),
    ConfigKey("pause.ms", Type.INT, default=0, doc="How long a put takes."),
)


class CollectingSinkTask(SinkTask):
    """Writes a JSON line per record."""

    def start(self, config: Mapping[str, str]) -> None:
        self.config = KEYS.parse(config)
        self.file = Path(self.config["out"]) / f"task-{config['task.id']}.jsonl"

    def put(self, batch: pa.RecordBatch) -> None:
        time.sleep(self.config["pause.ms"] / 1000)
        for row, value in enumerate(batch.column("value").to_pylist()):
            if value is not None and value == self.config["refuse"]:
                raise RecordError(f"{value!r} is refused", row=row)
        with self.file.open("a") as out:
            out.writelines(json.dumps(row, default=str) + "\n" for row in batch.to_pylist())

    def flush(self) -> str:
        return ""


class CollectingSinkConnector(SinkConnector):
    """``tasks.max`` tasks."""

    config_def = KEYS
    task_class: ClassVar[type[SinkTask]] = CollectingSinkTask
    version = "1.0"

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{**self.config, "task.id": str(task)} for task in range(max_tasks)]
