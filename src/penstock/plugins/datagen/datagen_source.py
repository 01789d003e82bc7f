"""Made-up records: stands in for Confluent's datagen connector."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.datagen.datagen_config import DATAGEN_CONFIG, QUICKSTART
from penstock.plugins.datagen.datagen_offsets import ITERATION, TASK_ID, check_alteration
from penstock.plugins.datagen.datagen_task import DatagenTask
from penstock.plugins.datagen.pacing import Pacing
from penstock.plugins.datagen.recipe import recipe_of
from penstock.sdk.checked import objections
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask


class DatagenConnector(SourceConnector):
    """Each task makes its own records. What is in one depends only on seed and offset."""

    config_def: ClassVar[ConfigDef] = DATAGEN_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    connect_class: ClassVar[str] = "io.confluent.kafka.connect.datagen.DatagenConnector"
    aliases: ClassVar[tuple[str, ...]] = ("DatagenSource",)
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "io.confluent.kafka.connect.datagen.DatagenConnector",
        "quickstart": "pageviews",
        "kafka.topic": "pageviews",
        "max.interval": "100",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    task_class: ClassVar[type[SourceTask]] = DatagenTask
    partition_keys: ClassVar[tuple[str, ...]] = (TASK_ID,)

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        return objections(lambda: recipe_of(config), QUICKSTART)

    def start(self, config: Mapping[str, str]) -> None:
        recipe_of(config)
        self._config = dict(config)
        self._pacing = Pacing.of(config)
        self._tasks = 1
        self._seen: dict[int, tuple[int, float]] = {}

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        self._tasks = max_tasks
        return [{**self._config, TASK_ID: str(task)} for task in range(max_tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        """Whether a task's next record is due, by the time since its last one was committed."""
        due = [self._due(task, offsets) for task in range(self._tasks)]
        return any(due)

    def _due(self, task: int, offsets: OffsetReader) -> bool:
        found = offsets.get({TASK_ID: task})
        iteration = 0 if found is None else int(found.get(ITERATION, 0))
        now = time.monotonic()
        known = self._seen.get(task)
        if known is None or known[0] != iteration:
            pause = 0.0 if known is None else self._pacing.gap(iteration)
            known = self._seen[task] = iteration, now + pause
        return self._pacing.left(iteration) > 0 and now >= known[1]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        for partition, offset in offsets:
            check_alteration(partition, offset)
        return True
