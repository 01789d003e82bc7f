"""What expressions see of records: their columns in the types of Spark's plan."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from penstock.engine.frames.fitting import JSON, TYPED, Fitting, as_type, texts
from penstock.engine.frames.loads import Load, packed

ROW: Final = "__row"
LOAD: Final = "__load"
HEADERS: Final = "headers"
MENTIONED: Final = re.compile(r"(?i)\bheaders\b")


@dataclass(frozen=True)
class Seen:
    """Makes the rows of a load. Picklable."""

    schema: pa.Schema
    """Of the rows, as Spark has them."""
    schema_text: str
    """``schema`` of the transform, for errors."""
    values: bool
    """Whether values have to come out as they went in, beside what expressions make of them."""

    def rows(self, load: Load) -> pa.RecordBatch:
        """Its records, with their numbers, and the load itself behind them."""
        refused = list(load.refused)
        groups, columns = [], []
        for group in load.groups:
            fitted, seen = self._fitting.columns(group, refused)
            groups.append(fitted)
            columns.append(self._columns(fitted, seen))
        load = replace(load, groups=groups, refused=refused)
        carried = packed(load if self.values else load.without_values())
        columns.append(self._marker(carried))
        joined = [pa.concat_arrays([each[name] for each in columns]) for name in self._read]
        numbers = pa.array([*range(load.rows), None], pa.int32())
        return pa.RecordBatch.from_arrays([numbers, *joined], schema=self.schema)

    @property
    def _fitting(self) -> Fitting:
        wanted = self.schema.field(TYPED).type
        return Fitting(wanted, f"the schema of the transform, {self.schema_text}")

    @property
    def _read(self) -> list[str]:
        return [name for name in self.schema.names if name != ROW]

    def _marker(self, carried: bytes) -> dict[str, pa.Array]:
        nothing = {name: pa.nulls(1, self.schema.field(name).type) for name in self._read}
        return {**nothing, LOAD: pa.array([carried], pa.binary())}

    def _columns(self, group: pa.RecordBatch, value: dict[str, pa.Array]) -> dict[str, pa.Array]:
        rows = group.num_rows
        found: dict[str, pa.Array] = {
            LOAD: pa.nulls(rows, pa.binary()),
            JSON: pa.nulls(rows, pa.string()),
            TYPED: pa.nulls(rows, self.schema.field(TYPED).type),
            **value,
            "key": texts(group.column("key")),
            "topic": group.column("topic").cast(pa.string()),
            "partition": group.column("partition"),
            "offset": _offsets(group),
            "timestamp": group.column("timestamp").cast(pa.timestamp("ms", tz="UTC")),
            HEADERS: group.column("headers"),
        }
        return {name: as_type(found[name], self.schema.field(name).type) for name in self._read}


def _offsets(group: pa.RecordBatch) -> pa.Array:
    known = "offset" in group.schema.names
    return group.column("offset") if known else pa.nulls(group.num_rows, pa.int64())
