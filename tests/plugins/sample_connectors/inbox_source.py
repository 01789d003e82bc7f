"""A queue whose messages are acknowledged: files of a folder, deleted once they are committed.

While a message may come again its source partition says that it is known; when it is deleted, its
partition is forgotten, so that a million messages leave no offset behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from penstock.sdk import (
    ChangedOffset,
    ConfigDef,
    ConfigKey,
    OffsetReader,
    Schema,
    SourceBatch,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Type,
    offsets_only,
    pack,
)

KEYS = ConfigDef(
    ConfigKey("inbox", doc="The folder with the messages."),
    ConfigKey("topic", doc="Where they go."),
    ConfigKey("keep", Type.BOOLEAN, default=False, doc="Whether committed ones are left there."),
)
STRING = Schema.string()


class InboxSourceTask(SourceTask):
    """All messages of the folder, by name."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.config = KEYS.parse(config)
        self.inbox = Path(self.config["inbox"])
        self.known = {partition["message"] for partition, _ in offsets}
        self.done: list[str] = []
        self.acknowledge(self.known)

    def acknowledge(self, names: Any) -> None:
        if not self.config["keep"]:
            for name in names:
                (self.inbox / name).unlink(missing_ok=True)
            self.done += names

    def poll(self) -> SourceBatch | None:
        done, self.done = self.done, []
        if done:
            self.known -= set(done)
            return offsets_only([({"message": name}, None) for name in done])
        new = [path for path in sorted(self.inbox.iterdir()) if path.name not in self.known]
        self.known |= {path.name for path in new}
        return pack([self.record(path) for path in new])[0] if new else None

    def record(self, path: Path) -> SourceRecord:
        topic = self.config["topic"]
        return SourceRecord({"message": path.name}, {"read": True}, topic, path.read_text(), STRING)

    def committed(self, offsets: Sequence[ChangedOffset]) -> None:
        self.acknowledge([p["message"] for p, offset in offsets if offset is not None])


class InboxSourceConnector(SourceConnector):
    """One task. To read a message again a user sets ``{"read": false}``: that forgets it."""

    config_def = KEYS
    task_class: ClassVar[type[SourceTask]] = InboxSourceTask
    version = "1.0"

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.config]

    def alter_offsets(self, config, offsets):  # type: ignore[no-untyped-def]  # as authors write it
        known = [partition for partition, _ in self.committed]
        return [
            (partition, offset if offset and offset["read"] else None)
            for partition, offset in offsets
            if partition in known
        ]
