"""Topics become indexes: stands in for Confluent's Elasticsearch sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from penstock import __version__
from penstock.plugins.search.elastic_sink_task import ElasticsearchSinkTask
from penstock.plugins.search.sink_config import SINK_CONFIG, URL
from penstock.plugins.search.sink_settings import SinkSettings
from penstock.sdk.checked import CheckedSinkConnector
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.tasks import SinkTask


class ElasticsearchSinkConnector(CheckedSinkConnector):
    """Writes to Elasticsearch or OpenSearch; every record is one document, however often it is
    written.
    """

    config_def: ClassVar[ConfigDef] = SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    guarantee_limits: ClassVar[str] = (
        "in that a record that is written again is the same document; at least once with "
        "write.method=upsert and keys, as older fields are merged again"
    )
    connect_class: ClassVar[str] = "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector"
    aliases: ClassVar[tuple[str, ...]] = (
        "OpenSearchSink",
        "io.aiven.kafka.connect.opensearch.OpensearchSinkConnector",
    )
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "connection.url": "https://search.example:9200",
        "connection.username": "penstock",
        "connection.password": "${file:/etc/penstock/secrets/search.properties:password}",
        "topics": "orders",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "behavior.on.null.values": "delete",
    }
    task_class: ClassVar[type[SinkTask]] = ElasticsearchSinkTask

    main_key: ClassVar[str] = URL

    @classmethod
    def guarantee_of(cls, config: Mapping[str, str]) -> Guarantee | None:
        settings = SinkSettings.of(config)
        merged_by_key = settings.upsert and not settings.key_ignored
        return Guarantee.AT_LEAST_ONCE if merged_by_key else cls.guarantee

    def check(self, config: Mapping[str, str]) -> SinkSettings:
        return SinkSettings.of(config)

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """Accepts all: what is read again is written under the same ids."""
        return True
