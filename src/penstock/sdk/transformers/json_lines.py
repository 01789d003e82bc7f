"""``jsonl``: one JSON value a line."""

from __future__ import annotations

from collections import deque

import orjson
import pyarrow as pa

from penstock.sdk.schema import SCHEMALESS
from penstock.sdk.transformers.lined import LinedTransformer


class JsonLinesTransformer(LinedTransformer):
    """Any JSON value, without a schema; blank lines are passed over."""

    field = SCHEMALESS

    def lines_of(self, block: list[bytes]) -> list[bytes]:
        """Those that are not blank."""
        return [line for line in block if line and not line.isspace()]

    def array(self, lines: list[bytes]) -> pa.Array:
        """The text of each line, once it is known to be JSON."""
        deque(map(orjson.loads, lines), maxlen=0)
        storage = pa.array(lines, pa.binary()).cast(pa.string())
        return pa.ExtensionArray.from_storage(pa.json_(), storage)
