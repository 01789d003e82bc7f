"""A persistent query: what it reads, what it writes, and the statement that says how."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.sql.catalog.source import Source

CONNECTOR_CLASS = "penstock.sql.persistent.connector.PersistentQueryConnector"
DEFINITION = "sql.query"
BOOTSTRAP = "table.bootstrap"


@dataclass(frozen=True)
class PersistentQuery:
    """As it was when it was created: what happens to its sources later does not change it."""

    id: str
    statement: str
    sources: tuple[Source, ...]
    sink: Source
    variables: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    store: str = ""
    """A name of its own for the tables that it keeps on executors."""
    state_topic: str = ""
    """Where it keeps what it knows of its groups, or of rows that wait for others."""
    read: int = 1
    """How many of the sources are read record by record: the others are looked up."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of its sources."""
        return tuple(source.name for source in self.sources)

    @property
    def topics(self) -> tuple[str, ...]:
        """Those that are read record by record."""
        return tuple(source.topic for source in self.sources[: self.read])

    @property
    def has_avro(self) -> bool:
        """Whether it reads or writes Avro."""
        return any(any(source.avro) for source in (*self.sources, self.sink))

    @property
    def bootstrap(self) -> bool:
        """Whether a table is loaded to its end before the first row is joined."""
        return self.properties.get(BOOTSTRAP, "true").lower() not in ("none", "false")

    def to_json(self) -> dict[str, Any]:
        """As the catalog's topic has it."""
        return {
            **vars(self),
            "sources": [source.to_json() for source in self.sources],
            "sink": self.sink.to_json(),
        }

    @staticmethod
    def from_json(stored: dict[str, Any]) -> PersistentQuery:
        """The reverse; fields of a later version are ignored."""
        known = {k: v for k, v in stored.items() if k in PersistentQuery.__dataclass_fields__}
        known["sources"] = tuple(map(Source.from_json, stored["sources"]))
        return PersistentQuery(**{**known, "sink": Source.from_json(stored["sink"])})

    def connector_config(self, tasks: int) -> dict[str, str]:
        """The config of the connector that runs it."""
        return {
            "connector.class": CONNECTOR_CLASS,
            "tasks.max": str(tasks),
            "topics": ",".join(self.topics),
            "errors.tolerance": "all",
            DEFINITION: _without_references(json.dumps(self.to_json())),
        }

    @staticmethod
    def of_config(config: Mapping[str, str]) -> PersistentQuery:
        """The query that a connector runs; ValueError if its config is not one of these."""
        try:
            return PersistentQuery.from_json(json.loads(config.get(DEFINITION, "")))
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"not the definition of a query: {error}") from error


def _without_references(text: str) -> str:
    """JSON in which no worker finds a reference to a config provider: a query may have ``${``."""
    return text.replace("${", "$\\u007b")
