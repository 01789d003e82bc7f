"""A sink that writes files of ``size`` records each; the rest it holds back, uncommitted.

Before it writes a file it commits, as the partition's metadata, which records the file will have.
A file ``epoch`` in its folder keeps out whoever was replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from penstock.sdk import (
    Assignments,
    ConfigDef,
    ConfigKey,
    Flushed,
    RecordError,
    SinkConnector,
    SinkTask,
    TakenOver,
    Type,
)

KEYS = ConfigDef(
    ConfigKey("out", doc="Folder for the files."),
    ConfigKey("size", Type.INT, default=10, doc="How many records a file has."),
    ConfigKey("refuse", default="", doc="A value that is refused."),
)
PartitionId = tuple[str, int]


class PackingSinkTask(SinkTask):
    """Files are named by topic, partition and first offset."""

    def start(self, config: Mapping[str, str]) -> None:
        self.config = KEYS.parse(config)
        self.out = Path(self.config["out"])
        self.held: dict[PartitionId, list[tuple[int, str]]] = {}
        self.planned: dict[PartitionId, int] = {}

    def open(self, assignments: Assignments) -> None:
        self.epoch = assignments.epoch
        self.check_epoch()
        (self.out / "epoch").write_text(str(self.epoch))
        with (self.out / "opened").open("a") as log:
            log.write(f"{self.epoch} {len(assignments.committed)}\n")
        for each in assignments:
            if each.metadata:
                self.planned[each.topic, each.partition] = int(each.metadata)

    def check_epoch(self) -> None:
        stored = self.out / "epoch"
        known = int(stored.read_text()) if stored.exists() else 0
        if known > self.epoch:
            raise TakenOver(f"epoch {known} is writing, this is {self.epoch}")

    def put(self, batch: pa.RecordBatch) -> None:
        values = batch.column("value").to_pylist()
        if self.config["refuse"] in values:
            raise RecordError("refused", row=values.index(self.config["refuse"]))
        where = batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
        rows = zip(batch.column("offset").to_pylist(), values, strict=True)
        self.held.setdefault(where, []).extend(rows)

    def flush(self) -> Flushed:
        self.check_epoch()
        safe: dict[PartitionId, int] = {}
        texts: dict[PartitionId, str] = {}
        for where, records in self.held.items():
            if where in self.planned:
                size = self.planned[where]
                if len(records) >= size:
                    safe[where], texts[where] = self.write(where, size), ""
            elif records and (len(records) >= self.config["size"] or not self.may_hold):
                self.planned[where] = min(len(records), self.config["size"])
                texts[where] = str(self.planned[where])
        return Flushed(texts, safe)

    def write(self, where: PartitionId, size: int) -> int:
        """The next offset."""
        packed, self.held[where] = self.held[where][:size], self.held[where][size:]
        del self.planned[where]
        name = f"{where[0]}-{where[1]}-{packed[0][0]}.txt"
        (self.out / name).write_text("".join(f"{value}\n" for _, value in packed))
        return packed[-1][0] + 1


class PackingSinkConnector(SinkConnector):
    """One task. An offset inside a file is rewritten to the file's beginning."""

    config_def = KEYS
    task_class: ClassVar[type[SinkTask]] = PackingSinkTask
    version = "1.0"

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.config]

    def alter_offsets(self, config, offsets):  # type: ignore[no-untyped-def]  # as authors write it
        size = KEYS.parse(config)["size"]
        return {p: None if o is None else o - o % size for p, o in offsets.items()}
