"""Topics become objects: stands in for Aiven's sink connectors of S3, GCS and Azure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import ClassVar

from penstock import __version__
from penstock.plugins.files.file_jail import ROOTS, Jail
from penstock.plugins.objects.aiven_keys import UNUSED_BY_SINKS, warn_of_unused
from penstock.plugins.objects.sink_config import (
    FORMAT,
    OBJECT_SINK_CONFIG,
    SinkSettings,
    settings_errors,
)
from penstock.plugins.objects.sink_task import ObjectSinkTask
from penstock.plugins.objects.store import open_storage, storage_errors
from penstock.plugins.objects.store_config import FOLDER
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector, TopicPartition
from penstock.sdk.errors import UserError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.tasks import SinkTask


class ObjectSinkConnector(SinkConnector):
    """Each record is in one object, whose name follows from its offsets."""

    config_def: ClassVar[ConfigDef] = OBJECT_SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = "as long as the settings of names and contents stay the same"
    aliases: ClassVar[tuple[str, ...]] = (
        "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
        "io.aiven.kafka.connect.gcs.GcsSinkConnector",
        "io.aiven.kafka.connect.azure.sink.AzureBlobSinkConnector",
    )
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "ObjectSink",
        "topics": "orders",
        "aws.s3.bucket.name": "archive",
        "aws.s3.region": "eu-central-1",
        "file.name.template": "{{topic}}/{{partition}}-{{start_offset:padding=true}}.gz",
        "format.output.type": "jsonl",
        "format.output.fields": "key,value,timestamp,headers",
        "file.max.age.ms": "3600000",
    }
    task_class: ClassVar[type[SinkTask]] = ObjectSinkTask
    worker_keys: ClassVar[tuple[str, ...]] = (ROOTS,)

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        return [
            *storage_errors(config),
            *settings_errors(config),
            *_folder_errors(config),
            *_format_errors(config),
        ]

    def start(self, config: Mapping[str, str]) -> None:
        open_storage(config)
        SinkSettings.of(config)
        warn_of_unused(config, UNUSED_BY_SINKS)
        super().start(config)

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """Accepts all: records that are read again are written again."""
        return True


def _folder_errors(config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    try:
        if config.get(FOLDER):
            Jail.of(config).check(config[FOLDER])
    except UserError as error:
        return [(FOLDER, str(error))]
    return ()


def _format_errors(config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    if config.get(FORMAT, "").strip().lower() != "avro" or find_spec("fastavro"):
        return ()
    return [(FORMAT, 'avro needs fastavro. Run: pip install "penstock[avro]"')]
