"""A sink's configuration, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.plugins.databases import sink_config as keys
from penstock.plugins.databases.jdbc_url import URL, kind_of, located
from penstock.plugins.databases.source_config import PASSWORD, TIMEZONE, USER
from penstock.sdk.databases import Database, quote
from penstock.sdk.errors import ConfigError

WRITTEN = ("postgresql", "postgres")
KAFKA_COLUMNS = ("__connect_topic", "__connect_partition", "__connect_offset")

MOST_BYTES: Final = 63
"""PostgreSQL cuts longer names, so that two may become one."""


@dataclass(frozen=True)
class SinkSettings:
    """What a task or connector needs to know."""

    connector: str
    database: Database
    insert_mode: str
    pk_mode: str
    pk_fields: tuple[str, ...]
    fields: tuple[str, ...]
    table_format: str
    delete: bool
    create: bool
    evolve: bool
    offsets_table: str
    zone: str = "UTC"
    """That of the columns' timestamps without one."""

    @classmethod
    def of(cls, config: Mapping[str, str]) -> SinkSettings:
        """``ConfigError`` names the key that is wrong, and what to write."""
        read = keys.SINK_CONFIG.parse(config)
        if kind_of(read[URL]) not in WRITTEN:
            raise ConfigError("The sink writes to PostgreSQL only.", key=URL)
        made = cls(
            config.get("name", ""),
            located(read[URL], read[USER], read[PASSWORD])[1],
            read[keys.INSERT_MODE].lower(),
            read[keys.PK_MODE].lower(),
            tuple(read[keys.PK_FIELDS] or ()),
            tuple(read[keys.FIELDS] or ()),
            read[keys.TABLE_FORMAT],
            read[keys.DELETE],
            read[keys.AUTO_CREATE],
            read[keys.AUTO_EVOLVE],
            quoted_name(read[keys.OFFSETS_TABLE]),
            read[TIMEZONE],
        )
        made._check()
        return made

    def table(self, topic: str) -> str:
        """The quoted name of the table for a topic; ``ConfigError`` if it is too long for one."""
        name = self.table_format.replace("${topic}", topic)
        if any(is_too_long(part) for part in name.split(".")):
            raise ConfigError(
                f"The table for topic {topic} would be {name}, and PostgreSQL cuts names after "
                f"{MOST_BYTES} bytes: set '{keys.TABLE_FORMAT}' to a shorter one.",
                key=keys.TABLE_FORMAT,
            )
        return quoted_name(name)

    def _check(self) -> None:
        if self.insert_mode != "insert" and self.pk_mode == "none":
            message = f"Mode {self.insert_mode} needs a primary key: set '{keys.PK_MODE}'."
            raise ConfigError(message, key=keys.PK_MODE)
        if self.delete and self.pk_mode != "record_key":
            message = f"'{keys.DELETE}' needs '{keys.PK_MODE}' to be record_key."
            raise ConfigError(message, key=keys.DELETE)
        if self.pk_mode == "kafka" and len(self.pk_fields) not in (0, 3):
            message = "Name three columns, for topic, partition and offset, or none."
            raise ConfigError(message, key=keys.PK_FIELDS)


def is_too_long(name: str) -> bool:
    """Whether PostgreSQL would cut it."""
    return len(name.strip('"').encode()) > MOST_BYTES


def quoted_name(name: str) -> str:
    """``table`` or ``schema.table`` as SQL wants it; quotes that are there already are dropped."""
    return ".".join(quote(part.strip('"')) for part in name.split("."))
