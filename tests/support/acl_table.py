"""The ACLs that SECURITY.md lists for the workers' principal, read from its table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

SECURITY = Path(__file__).parents[2] / "SECURITY.md"
KINDS = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional id": ResourceType.TRANSACTIONAL_ID,
}
OPERATIONS = {
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Create": AclOperation.CREATE,
    "Delete": AclOperation.DELETE,
}
NAMED = re.compile(r"(prefixed, )?`([^`]+)`")


@dataclass(frozen=True)
class Row:
    """A line of the table: what the workers may do, and with what."""

    resource: str
    operations: tuple[AclOperation, ...]

    def acls(self, principal: str, topics: Mapping[str, Sequence[str]]) -> list[AclBinding]:
        """``topics`` are the names of those that the table only describes."""
        kind = next(kind for word, kind in KINDS.items() if self.resource.startswith(word))
        return [
            AclBinding(kind, name, pattern, principal, "*", operation, AclPermissionType.ALLOW)
            for name, pattern in self._names(topics)
            for operation in self.operations
        ]

    def _names(self, topics: Mapping[str, Sequence[str]]) -> list[tuple[str, ResourcePatternType]]:
        literal, prefixed = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED
        if named := NAMED.findall(self.resource):
            return [(name, prefixed if prefix else literal) for prefix, name in named]
        described = [part.strip() for part in self.resource.split(",")]
        return [(name, literal) for part in described for name in topics[part]]


def worker_rows() -> list[Row]:
    """Every line of the table that is about the workers."""
    lines = SECURITY.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [_row(cell) for cell in cells if cell[0] == "workers"]


def _row(cells: list[str]) -> Row:
    words = re.findall(r"\b[A-Z][A-Za-z]+", cells[2])
    return Row(cells[1], tuple(OPERATIONS[word] for word in words))
