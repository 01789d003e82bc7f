"""``bytes``: an object as chunks of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar, Final

from penstock.sdk.config import ConfigDef, ConfigKey, Type
from penstock.sdk.config_validators import between
from penstock.sdk.objects import ObjectContext
from penstock.sdk.schema import Schema
from penstock.sdk.sources.offset_entries import SchemaAndValue
from penstock.sdk.transformers.streams import reading
from penstock.sdk.transformers.transformer import OnBad, TransformedRecord, Transformer

BUFFER_SIZE: Final = "transformer.max.buffer.size"
BYTES: Final = Schema.bytes()


class BytesTransformer(Transformer):
    """Every so many bytes are a record, the last one perhaps shorter; an empty object has none."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            BUFFER_SIZE,
            Type.INT,
            default=4096,
            validator=between(1, (1 << 31) - 1),
            doc="With input.format=bytes: how many bytes of an object make a record.",
        )
    )

    def records(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedRecord]:
        """The chunks."""
        key, size, position = self.key(context), self.settings[BUFFER_SIZE], 0
        with reading(context, lambda: position):
            while chunk := read_fully(stream, size):
                position += 1
                if position > skip:
                    yield TransformedRecord(key, SchemaAndValue(BYTES, chunk), position)


def read_fully(stream: BinaryIO, size: int) -> bytes:
    """``size`` bytes, fewer only at the end, whatever the stream gives at a time."""
    data = stream.read(size)
    while 0 < len(data) < size and (more := stream.read(size - len(data))):
        data += more
    return data
