"""Confluent's AvroConverter over Arrow columns."""

from __future__ import annotations

from typing import ClassVar

from penstock.columnar.json_text import Misfit
from penstock.registry.avro_columns import AvroColumnReader, AvroColumnWriter
from penstock.registry.converter import Reader, RegistryConverter, Writer
from penstock.sdk.schema import Schema


class AvroConverter(RegistryConverter):
    """Avro, with its schemas in a Confluent-compatible schema registry."""

    connect_class: ClassVar[str] = "io.confluent.connect.avro.AvroConverter"
    kind: ClassVar[str] = "AVRO"

    def _writer(self, schema: Schema | None, text: str | None) -> Writer:
        if schema is None:
            raise Misfit(
                "the records have no schema. Use a source or converter with schemas "
                "(schemas.enable=true), or write JSON"
            )
        return AvroColumnWriter(schema, text)

    def _reader(self, text: str) -> Reader:
        return AvroColumnReader(text, self._side)
