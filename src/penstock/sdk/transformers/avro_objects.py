"""``avro``: the records of an Avro container file, with their schema. Needs the extra ``avro``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import fastavro

from penstock.sdk.errors import PenstockError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.sources.offset_entries import SchemaAndValue
from penstock.sdk.transformers.avro_schema import AvroMapping, Mapped
from penstock.sdk.transformers.streams import CorruptStream, reading
from penstock.sdk.transformers.transformer import OnBad, TransformedRecord, Transformer


class AvroTransformer(Transformer):
    """Each record with the schema of its file; a block of the file is in memory at a time."""

    def records(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedRecord]:
        """The file's records."""
        key, position = self.key(context), 0
        with reading(context, lambda: position):
            values = _values(stream)
            mapped: Mapped = next(values)
            schema, convert = mapped.schema, mapped.convert
            for value in values:
                position += 1
                if position > skip:
                    made = value if convert is None else convert(value)
                    yield TransformedRecord(key, SchemaAndValue(schema, made), position)


def _values(stream: BinaryIO) -> Iterator[Any]:
    """First how they are mapped, then the values."""
    try:
        reader = fastavro.reader(stream, return_named_type=True, return_named_type_override=True)
        yield AvroMapping().map(fastavro.parse_schema(reader.writer_schema))
        yield from reader
    except (CorruptStream, OSError, PenstockError):
        raise
    except Exception as error:  # noqa: BLE001 (damage shows as an error of any kind)
        raise CorruptStream(f"it is no Avro file, or a damaged one ({error})") from None
