"""How many tasks a frame connector has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.sdk import FrameConnector, FrameTurn
from penstock.sdk.config import ConfigDef
from penstock.sdk.frames import FormatEnd, KafkaEnd


class Passing(FrameConnector):
    config_def = ConfigDef()

    def build(self, records: Any, turn: FrameTurn) -> Any:
        return records


class Grouping(Passing):
    is_whole = True


class Writing(Passing):
    def end(self) -> KafkaEnd | FormatEnd:
        return FormatEnd("parquet", "/somewhere")


@pytest.mark.parametrize(("made", "tasks"), [(Passing, 4), (Grouping, 1), (Writing, 1)])
def test_as_many_tasks_as_may_share_a_turn(made: Callable[[], Passing], tasks: int) -> None:
    assert made().task_configs(4) == [{}] * tasks
