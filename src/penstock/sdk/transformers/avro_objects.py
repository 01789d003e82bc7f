"""``avro``: the records of an Avro container file, with their schema. Needs the extra ``avro``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
            file = AvroFile(stream)
            schema, convert = file.mapped.schema, file.mapped.convert
            for value in file.values():
                position += 1
                if position > skip:
                    made = value if convert is None else convert(value)
                    yield TransformedRecord(key, SchemaAndValue(schema, made), position)


class AvroFile:
    """A container file that is being read; CorruptStream for damage, from whichever call."""

    def __init__(self, stream: BinaryIO) -> None:
        with _as_damage():
            self._reader = fastavro.reader(
                stream, return_named_type=True, return_named_type_override=True
            )
            self.metadata: Mapping[str, str] = self._reader.metadata
            self.mapped: Mapped = AvroMapping().map(
                fastavro.parse_schema(self._reader.writer_schema)
            )

    def values(self) -> Iterator[Any]:
        """What its records hold."""
        with _as_damage():
            yield from self._reader


@contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except (CorruptStream, OSError, PenstockError):
        raise
    except Exception as error:  # noqa: BLE001 (damage shows as an error of any kind)
        why = str(error) or type(error).__name__
        raise CorruptStream(f"it is not an Avro file, or it is damaged ({why})") from None
