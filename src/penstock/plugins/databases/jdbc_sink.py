"""Records become rows of tables: stands in for Confluent's JDBC sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from penstock import __version__
from penstock.plugins.databases.jdbc_sink_task import JdbcSinkTask
from penstock.plugins.databases.jdbc_url import URL
from penstock.plugins.databases.kept_offsets import KeptOffsets
from penstock.plugins.databases.sink_config import SINK_CONFIG
from penstock.plugins.databases.sink_settings import SinkSettings
from penstock.plugins.databases.write_session import WriteSession
from penstock.sdk.checked import CheckedSinkConnector
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.tasks import SinkTask


class JdbcSinkConnector(CheckedSinkConnector):
    """Writes records as rows of PostgreSQL's tables.

    How far each partition was written is kept in the database, in the transactions of the rows.
    The consumer group's offsets still rule: altering them moves what is kept as well.
    """

    config_def: ClassVar[ConfigDef] = SINK_CONFIG
    version: ClassVar[str] = __version__
    guarantee: ClassVar[Guarantee | None] = Guarantee.EXACTLY_ONCE
    connect_class: ClassVar[str] = "io.confluent.connect.jdbc.JdbcSinkConnector"
    aliases: ClassVar[tuple[str, ...]] = ("PostgresSink", "JdbcSink")
    example: ClassVar[Mapping[str, str]] = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": "jdbc:postgresql://warehouse.example:5432/dwh",
        "connection.user": "penstock",
        "connection.password": "${file:/etc/penstock/secrets/dwh.properties:password}",
        "topics": "shop-orders",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "auto.create": "true",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }
    task_class: ClassVar[type[SinkTask]] = JdbcSinkTask

    main_key: ClassVar[str] = URL

    def check(self, config: Mapping[str, str]) -> SinkSettings:
        return SinkSettings.of(config)

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool:
        """Moves what is kept in the database, before the group's offsets are."""
        settings = SinkSettings.of(config)
        session = WriteSession(settings.database)
        try:
            session.begin()
            kept = KeptOffsets(session, settings.offsets_table, settings.connector)
            if kept.there():
                kept.rewind({(t, p): offset for (t, p), offset in offsets.items()})
            session.commit()
        finally:
            session.close()
        return True
