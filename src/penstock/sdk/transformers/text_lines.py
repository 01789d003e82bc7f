"""``text``: one string a line."""

from __future__ import annotations

import pyarrow as pa

from penstock.sdk.schema import Schema, to_field
from penstock.sdk.transformers.lined import LinedTransformer


class TextTransformer(LinedTransformer):
    """Every line, an empty one too; only ``\\n`` ends a line. A line that is not UTF-8 is bad."""

    field = to_field(Schema.string(), "value")

    def lines_of(self, block: list[bytes]) -> list[bytes]:
        """All of them."""
        return block

    def array(self, lines: list[bytes]) -> pa.Array:
        """As strings."""
        return pa.array(lines, pa.binary()).cast(pa.string())
