"""Objects of a bucket become records: stands in for Aiven's S3 source connector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock import __version__
from penstock.plugins.files.file_jail import ROOTS
from penstock.plugins.objects.aiven_keys import UNUSED_BY_SOURCES, warn_of_unused
from penstock.plugins.objects.source_altering import Altering
from penstock.plugins.objects.source_config import (
    OBJECT_SOURCE_CONFIG,
    TOPIC,
    ignores_changes,
    numbering,
    rhythm_of,
    strategy_of,
    transformer_of,
)
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS
from penstock.plugins.objects.source_offsets import PARTITION_KEYS, Committed
from penstock.plugins.objects.source_plan import Dealer, orders
from penstock.plugins.objects.source_search import Search
from penstock.plugins.objects.source_selection import selection_of
from penstock.plugins.objects.source_task import ObjectSourceTask
from penstock.plugins.objects.source_turn import Turn
from penstock.plugins.objects.store import open_storage, storage_errors
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.distribution.name_template import FILE_NAME_TEMPLATE, NameTemplate
from penstock.sdk.errors import ConfigError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
from penstock.sdk.tasks import SourceTask


class ObjectSourceConnector(SourceConnector):
    """Reads every object of a bucket once, and again when it has changed.

    ``changed.objects`` may say otherwise. The connector lists, for all tasks; a task reads what it
    is given.
    """

    config_def: ClassVar[ConfigDef] = OBJECT_SOURCE_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = "as long as no object changes"
    aliases: ClassVar[tuple[str, ...]] = (
        "io.aiven.kafka.connect.s3.source.S3SourceConnector",
        "io.aiven.kafka.connect.azure.source.AzureBlobSourceConnector",
        "S3SourceConnector",
    )
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "ObjectSource",
        "topic": "events",
        "aws.s3.bucket.name": "events",
        "aws.s3.region": "eu-central-1",
        "aws.access.key.id": "${file:/etc/penstock/secrets/s3.properties:id}",
        "aws.secret.access.key": "${file:/etc/penstock/secrets/s3.properties:secret}",
        "aws.s3.prefix": "2026/",
        "input.format": "jsonl",
        "file.compression.type": "gzip",
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    task_class: ClassVar[type[SourceTask]] = ObjectSourceTask
    partition_keys: ClassVar[tuple[str, ...]] = PARTITION_KEYS
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        wrong = list(storage_errors(config))
        try:
            template = NameTemplate(OBJECT_SOURCE_CONFIG.parse(config)[FILE_NAME_TEMPLATE])
            strategy_of(config)
            transformer_of(config)
        except ConfigError as error:
            return [*wrong, (error.key or FILE_NAME_TEMPLATE, str(error))]
        if not config.get(TOPIC) and "topic" not in template.variables:
            wrong.append((TOPIC, f"set it, or put {{{{topic}}}} into {FILE_NAME_TEMPLATE}"))
        return wrong

    def start(self, config: Mapping[str, str]) -> None:
        self._config = dict(config)
        self._values = OBJECT_SOURCE_CONFIG.parse(config)
        self._storage = open_storage(config)
        warn_of_unused(config, UNUSED_BY_SOURCES)
        strategy = strategy_of(config)
        self._number_of = numbering(config, strategy)
        self._selection = selection_of(config, self._storage.prefix)
        self._dealer = Dealer(strategy)
        self._rhythm = rhythm_of(self._values)
        self._search = Search(Listing(self._storage), self._number_of, self._rhythm)
        self._tasks = 1
        self._read: tuple[OffsetReader, Committed] | None = None

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        self._tasks = min(max_tasks, VIRTUAL_BUCKETS)
        return [dict(self._config) for _ in range(self._tasks)]

    def look(self, offsets: OffsetReader) -> bool:
        committed = self._committed(offsets)
        self._search.go_on(committed)
        return bool(self._turn(committed))

    def plan(
        self, offsets: OffsetReader, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        self._search.hold(self._dealer.held(tasks, self._tasks))
        committed = self._committed(offsets)
        self._search.go_on(committed)
        turn = self._turn(committed)
        dealt = self._dealer.deal(turn.left(), tasks, self._tasks)
        of = committed.selection, self._selection.text
        made = orders(turn.found, dealt, turn.begin(), turn.advance, of)
        self._search.complete = None
        return [order.to_config() for order in made]

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool | Sequence[ChangedOffset]:
        bucket = open_storage(config).bucket
        number_of = numbering(config, strategy_of(config))
        return Altering(bucket, number_of).altered(offsets)

    def _committed(self, offsets: OffsetReader) -> Committed:
        """Kept while the worker gives the same: an idle connector is asked often."""
        if self._read is None or self._read[0] is not offsets:
            late = not ignores_changes(self._values)
            known = Committed(offsets, self._storage.bucket, late, self._selection)
            self._read = offsets, known
        return self._read[1]

    def _turn(self, committed: Committed) -> Turn:
        return Turn(committed, self._search, self._number_of, self._rhythm.look_back)
