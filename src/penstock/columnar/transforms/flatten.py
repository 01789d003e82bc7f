"""Kafka Connect's Flatten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, SidedTransform
from penstock.columnar.transforms.structs import Part, basics, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.schema import Schema, SchemaType, described

_PURPOSE = "flattening"


class Flatten(SidedTransform):
    """Fields of inner structs or maps as fields of the outer one, their names joined."""

    passes_nulls: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "delimiter",
            default=".",
            importance=Importance.MEDIUM,
            doc="Delimiter to insert between field names from the input record when generating "
            "field names for the output record.",
        )
    )

    def configure(self, config: Mapping[str, str]) -> None:
        self._delimiter: str = self.config_def.parse(config)["delimiter"]

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        made = list(self._leaves(array, "", optional=schema.optional, default=schema.default))
        return rebuilt(made, array), replace(
            basics(schema), fields={p.name: p.schema for p in made}
        )

    def _leaves(
        self, array: pa.Array, prefix: str, *, optional: bool, default: Mapping[str, Any] | None
    ) -> Iterator[Part]:
        for found in parts(array, _PURPOSE):
            schema, name = found.schema, self._name(prefix, found.name)
            own = schema.default
            if own is None and default is not None:
                own = default.get(found.name)
            optional_here = optional or schema.optional
            if schema.type is SchemaType.STRUCT:
                yield from self._leaves(found.array, name, optional=optional_here, default=own)
            elif schema.type is SchemaType.MAP:
                raise Misfit(
                    f"Flatten transformation does not support {schema.type} for record with "
                    f"schemas (for field {name})."
                )
            else:
                leaf = replace(schema, optional=optional_here, default=own)
                plain = pa.field(name, found.array.type, nullable=optional_here)
                yield Part(described(plain, leaf), found.array)

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is None:
            return None
        return dict(self._entries(required_map(value, _PURPOSE), ""))

    def _entries(self, value: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
        for key, inner in value.items():
            name = self._name(prefix, key)
            if isinstance(inner, dict):
                yield from self._entries(inner, name)
            else:
                yield name, inner

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name


class FlattenKey(Flatten):
    """The key's fields."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.Flatten$Key"


class FlattenValue(Flatten):
    """The value's fields."""

    connect_class: ClassVar[str] = f"{PACKAGE}.Flatten$Value"
