"""``csv``: one row a record, its columns as text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO, ClassVar, Final

from penstock.sdk.config import ConfigDef, ConfigKey, Type
from penstock.sdk.config import invalid_value as invalid
from penstock.sdk.errors import ObjectError
from penstock.sdk.objects import ObjectContext
from penstock.sdk.schema import Schema
from penstock.sdk.sources.offset_entries import SchemaAndValue
from penstock.sdk.transformers.streams import LONGEST_LINE, CorruptStream, line_blocks, reading
from penstock.sdk.transformers.transformer import (
    OnBad,
    TransformedRecord,
    Transformer,
    bad_record,
    tolerate,
)

HEADER: Final = "csv.header"
DELIMITER: Final = "csv.delimiter"
TEXT: Final = Schema.string(optional=True)


def _one_character(name: str, value: str) -> None:
    if len(value) != 1 or value in '"\r\n':
        raise invalid(name, value, "It must be one character, and no quote or end of line")


class CsvTransformer(Transformer):
    """A struct of texts, named by the first row, or ``column1``, ``column2``, … without one.

    Quotes as RFC 4180 has them, newlines in quotes too; empty rows are passed over.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            HEADER,
            Type.BOOLEAN,
            default=True,
            doc="With input.format=csv: whether the first row of an object names the columns.",
        ),
        ConfigKey(
            DELIMITER,
            default=",",
            validator=_one_character,
            doc="With input.format=csv: what stands between two columns.",
        ),
    )

    def records(
        self, stream: BinaryIO, context: ObjectContext, skip: int = 0, bad: OnBad | None = None
    ) -> Iterator[TransformedRecord]:
        """The rows."""
        key, position = self.key(context), 0
        with reading(context, lambda: position):
            rows = self._rows(stream)
            names = self._names(rows, context)
            schema = Schema.struct(dict.fromkeys(names, TEXT))
            for position, row in enumerate(rows, 1):
                if position <= skip:
                    continue
                why = _why_bad(row, len(names))
                if why:
                    tolerate(bad, bad_record(context, position, why), self._bytes(row))
                    continue
                value = dict(zip(names, row, strict=True))
                yield TransformedRecord(key, SchemaAndValue(schema, value), position)

    def _rows(self, stream: BinaryIO) -> Iterator[list[str]]:
        csv.field_size_limit(LONGEST_LINE)  # of the whole process; as it is, 128 KB
        reader = csv.reader(_texts(stream), delimiter=self.settings[DELIMITER], strict=True)
        try:
            first = next(filter(None, reader), None)
            if first is not None and not self.settings[HEADER]:
                yield [f"column{number}" for number, _ in enumerate(first, 1)]
            if first is not None:
                yield first
            yield from filter(None, reader)
        except csv.Error as error:
            raise CorruptStream(f"it is not CSV ({error})") from None

    def _names(self, rows: Iterator[list[str]], context: ObjectContext) -> list[str]:
        names = next(rows, [])
        if _why_bad(names, len(set(names))):
            raise ObjectError(
                f"The first row of object {context.name} cannot name its columns: a name is there "
                f"twice or is not UTF-8. Set {HEADER}=false if it is data."
            )
        return names

    def _bytes(self, row: list[str]) -> bytes:
        text: str = self.settings[DELIMITER].join(row)
        return text.encode(errors="surrogateescape")


def _texts(stream: BinaryIO) -> Iterator[str]:
    """Lines as text; bytes that are not UTF-8 are kept, for their row alone is bad."""
    for block in line_blocks(stream):
        for line in block:
            yield line.decode(errors="surrogateescape") + "\n"


def _why_bad(row: list[str], columns: int) -> str | None:
    if len(row) != columns:
        return f"it has {len(row)} columns instead of {columns}"
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return "it is not UTF-8"
    return None
