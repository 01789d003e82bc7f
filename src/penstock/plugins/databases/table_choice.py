"""Which tables a configuration names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.plugins.databases.sessions import Session
from penstock.plugins.databases.source_config import (
    BLACKLIST,
    EXCLUDE,
    INCLUDE,
    SCHEMA_PATTERN,
    TABLE_TYPES,
    WHITELIST,
)
from penstock.sdk.databases import Dialect, TableId


@dataclass(frozen=True)
class TableChoice:
    """Names are compared as Confluent's connector does; regular expressions match whole names."""

    names: tuple[str, ...]
    not_names: tuple[str, ...]
    patterns: tuple[str, ...]
    not_patterns: tuple[str, ...]
    schema_pattern: str | None
    views: bool

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> TableChoice:
        """From a parsed configuration."""
        return cls(
            tuple(read[WHITELIST] or ()),
            tuple(read[BLACKLIST] or ()),
            tuple(read[INCLUDE] or ()),
            tuple(read[EXCLUDE] or ()),
            read[SCHEMA_PATTERN] or None,
            any(kind.upper() == "VIEW" for kind in read[TABLE_TYPES] or ()),
        )

    def tables(self, session: Session, dialect: Dialect) -> list[TableId]:
        """The tables that are there and chosen."""
        found = dialect.tables(session, self.schema_pattern, self.views)
        return [table for table in found if self._chosen(table)]

    def missing(self, found: Sequence[TableId]) -> list[str]:
        """The names in the configuration that no table has."""
        return [name for name in self.names if not any(_is_called(t, name) for t in found)]

    def _chosen(self, table: TableId) -> bool:
        if any(_is_called(table, name) for name in self.not_names):
            return False
        if any(re.fullmatch(pattern, str(table)) for pattern in self.not_patterns):
            return False
        if not self.names and not self.patterns:
            return True
        named = any(_is_called(table, name) for name in self.names)
        return named or any(re.fullmatch(pattern, str(table)) for pattern in self.patterns)


def _is_called(table: TableId, name: str) -> bool:
    """With or without schema, and with a database in front or not."""
    bare = name.replace('"', "").lower()
    full = str(table).lower()
    return bare in (full, table.table.lower()) or bare.endswith(f".{full}")
