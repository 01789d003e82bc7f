"""A scripted source whose connector hangs in one of its callbacks until a file exists."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.sdk import ConfigDef, ConfigKey, OffsetReader
from sample_connectors.scripted_source import KEYS, ScriptedSourceConnector

HANGING_KEYS = KEYS + ConfigDef(
    ConfigKey("hang.in", default="", doc="validate, start, look, plan, stop or alter."),
    ConfigKey("hang.until", default="", doc="The file that ends the hanging."),
)


class HangingSourceConnector(ScriptedSourceConnector):
    """Hangs where its configuration says."""

    config_def = HANGING_KEYS

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        hang("validate", config)
        return ()

    def start(self, config: Mapping[str, str]) -> None:
        hang("start", config)
        super().start(config)

    def look(self, offsets: OffsetReader) -> bool | None:
        hang("look", self.config)
        return super().look(offsets)

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        hang("plan", self.config)
        return None

    def stop(self) -> None:
        hang("stop", self.config)

    def alter_offsets(self, config: Mapping[str, str], offsets: Any) -> bool:
        hang("alter", config)
        return True


def hang(where: str, config: Mapping[str, str]) -> None:
    """Hang, if this is the place."""
    while config.get("hang.in") == where and not Path(config["hang.until"]).exists():
        time.sleep(0.01)
