"""A frame connector whose plan, in Spark's words, is in its configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.sdk import ConfigDef, ConfigKey, FrameConnector, FrameTurn, TurnEnd
from penstock.sdk.frames import FormatEnd, KafkaEnd


class FramedConnector(FrameConnector):
    """``SELECT task, 'output' AS topic, … FROM records WHERE …``"""

    config_def = ConfigDef(
        ConfigKey("output", doc="The topic that is written."),
        ConfigKey("select", default="value", doc="Expressions, with ; between them."),
        ConfigKey("where", default="true", doc="A condition."),
        ConfigKey("reshaping", default="", doc="Something that is not allowed."),
        ConfigKey("side.topic", default="", doc="A topic whose ends are noted."),
        ConfigKey("notes", default="", doc="A file for what the connector is told."),
        ConfigKey("folder", default="", doc="Parquet files are written there, and no topic."),
        ConfigKey("python", default="", doc="What happens in a stage of Python's."),
    )
    version = "1.0"
    wants_headers = False

    def start(self, config: Mapping[str, str]) -> None:
        self._config = self.config_def.parse(config)

    def end(self) -> KafkaEnd | FormatEnd:
        folder = self._config["folder"]
        return FormatEnd("parquet", folder) if folder else KafkaEnd()

    def side_topics(self) -> list[str]:
        side = self._config["side.topic"]
        return [side] if side else []

    def build(self, records: Any, turn: FrameTurn) -> Any:
        """By way of ``reshaping`` a test asks for what is not allowed."""
        config = self._config
        self._note({"side": [[*at, end] for at, end in turn.side_ends.items()]})
        reshaped = _reshaped(records, config["reshaping"])
        filtered = _through_python(reshaped, config["python"]).where(config["where"])
        select = [part.strip() for part in config["select"].split(";")]
        task = [] if config["reshaping"] == "forget task" else ["task"]
        return filtered.selectExpr(*task, f"'{config['output']}' AS topic", *select)

    def turned(self, done: TurnEnd) -> None:
        told = [done.produced, done.bad_rows, list(done.errors), done.small]
        self._note({"turned": told, "ranges": [list(each) for each in done.ranges]})

    def _note(self, what: Any) -> None:
        if self._config["notes"]:
            with Path(self._config["notes"]).open("a") as file:
                file.write(json.dumps(what) + "\n")


def _reshaped(records: Any, how: str) -> Any:
    if how == "shuffle":
        return records.repartition(3)
    if how == "union":
        return records.unionAll(records)
    if how == "coalesce":
        return records.coalesce(1)
    if how == "other task":
        return records.selectExpr("task + 1 AS task", "key", "value")
    if how == "raise":
        raise ValueError("no plan today")
    return records


def _through_python(records: Any, mishap: str) -> Any:
    """A stage of Python's, as a look-up would be."""
    if not mishap:
        return records

    def pass_on(batches: Any) -> Any:
        for number, batch in enumerate(batches):
            _strike(mishap, batch, number)
            yield batch

    return records.mapInArrow(pass_on, records.schema)


def _strike(mishap: str, batch: Any, number: int) -> None:
    import os
    import time

    what, _, more = mishap.partition(" ")
    if what == "raise" and more.encode() in batch.column("value").to_pylist():
        raise ValueError(f"found {more}")
    if what == "exit-once" and not Path(more).exists():
        Path(more).touch()
        os._exit(3)
    if what == "hang-while" and Path(more).exists():
        Path(more).with_suffix(".hung").touch()
        while Path(more).exists():
            time.sleep(0.1)
    if what == "kill-executor-at":
        at, mark = more.split(" ")
        if number == int(at) and not Path(mark).exists():
            time.sleep(1)  # what earlier batches made is produced meanwhile
            Path(mark).touch()
            kill_executor()


def kill_executor() -> None:
    """Of Spark's task that calls it: the parent of the daemon that has forked this process."""
    import os
    import signal

    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
