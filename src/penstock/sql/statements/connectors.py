"""Statements about connectors. Names and keys are as they were written; a value is text."""

from __future__ import annotations

from dataclasses import dataclass

Properties = tuple[tuple[str, str | None], ...]
"""Keys and values in order; None is SQL's NULL."""


@dataclass(frozen=True)
class CreateConnector:
    """``CREATE SOURCE|SINK CONNECTOR``, or with ``external`` KLIP-7's ``CREATE EXTERNAL``."""

    kind: str
    name: str
    properties: Properties
    if_not_exists: bool = False
    external: bool = False
    source: str | None = None
    """The stream or table of ``FROM``."""


@dataclass(frozen=True)
class ShowConnectors:
    """``kind`` is source, sink or, for both, empty."""

    kind: str = ""
    external: bool = False


@dataclass(frozen=True)
class DescribeConnector:
    """``DESCRIBE CONNECTOR n``."""

    name: str


@dataclass(frozen=True)
class DropConnector:
    """``DROP CONNECTOR``; with ``external`` the kind must fit."""

    name: str
    if_exists: bool = False
    kind: str = ""
    external: bool = False
    terminate: bool = True


@dataclass(frozen=True)
class AlterConnector:
    """Change some keys of its config; None deletes one."""

    name: str
    changes: Properties


@dataclass(frozen=True)
class ChangeConnector:
    """``verb`` is pause, resume, stop or restart."""

    verb: str
    name: str
    include_tasks: bool = False
    only_failed: bool = False


@dataclass(frozen=True)
class ShowPlugins:
    """``SHOW CONNECTOR PLUGINS``."""


@dataclass(frozen=True)
class ShowOffsets:
    """``SHOW CONNECTOR OFFSETS n``."""

    name: str


@dataclass(frozen=True)
class AlterOffsets:
    """Pairs of JSON texts: a source partition, and its offset or None to forget it."""

    name: str
    offsets: Properties


@dataclass(frozen=True)
class ResetOffsets:
    """``RESET CONNECTOR OFFSETS n``."""

    name: str


ConnectorStatement = (
    CreateConnector
    | ShowConnectors
    | DescribeConnector
    | DropConnector
    | AlterConnector
    | ChangeConnector
    | ShowPlugins
    | ShowOffsets
    | AlterOffsets
    | ResetOffsets
)
