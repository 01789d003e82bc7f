"""Kafka Connect's ReplaceField."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.columnar.transforms.structs import basics, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, invalid_value
from penstock.sdk.schema import Schema

_PURPOSE = "field replacement"


def _pairs(name: str, value: Any) -> None:
    for mapping in value or ():
        if len(_split(mapping)) != 2:
            raise invalid_value(name, value, f"Invalid rename mapping: {mapping}")


def _split(mapping: str) -> list[str]:
    """Java's ``split``, which drops empty ends."""
    found = mapping.split(":")
    while found and not found[-1]:
        found.pop()
    return found


class ReplaceField(SidedTransform):
    """Leaves fields out and renames others."""

    passes_nulls: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "exclude",
            Type.LIST,
            default=[],
            importance=Importance.MEDIUM,
            doc="Fields to exclude. This takes precedence over the fields to include.",
        ),
        ConfigKey(
            "include",
            Type.LIST,
            default=[],
            importance=Importance.MEDIUM,
            doc="Fields to include. If specified, only these fields will be used.",
        ),
        ConfigKey(
            "renames",
            Type.LIST,
            default=[],
            validator=_pairs,
            importance=Importance.MEDIUM,
            doc="Field rename mappings.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._excluded = frozenset(parsed["exclude"] or ())
        self._included = frozenset(parsed["include"] or ())
        pairs = [_split(mapping) for mapping in parsed["renames"] or ()]
        self._renames = {old: new for old, new, *_ in pairs}
        self._replace_null: bool = parsed["replace.null.with.default"]

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        found = parts(array, _PURPOSE, replace_null=self._replace_null)
        kept = [p.renamed(self._renamed(p.name)) for p in found if self._keeps(p.name)]
        described = replace(basics(schema), fields={p.name: p.schema for p in kept})
        return rebuilt(kept, array), described

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is None:
            return None
        there = required_map(value, _PURPOSE)
        return {self._renamed(k): v for k, v in there.items() if self._keeps(k)}

    def _keeps(self, name: str) -> bool:
        return name not in self._excluded and (not self._included or name in self._included)

    def _renamed(self, name: str) -> str:
        return self._renames.get(name, name)


class ReplaceFieldKey(ReplaceField):
    """Fields of the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.ReplaceField$Key"


class ReplaceFieldValue(ReplaceField):
    """Fields of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.ReplaceField$Value"
