"""What expressions see of records: their columns in the types of Spark's plan."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.frames.loads import Load, Refused, packed
from penstock.engine.frames.problems import Problem
from penstock.sdk.schema import is_schemaless

ROW: Final = "__row"
LOAD: Final = "__load"
JSON: Final = "__json"
TYPED: Final = "__typed"
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
            fitting, seen = self._fitting(group, refused)
            groups.append(fitting)
            columns.append(self._columns(fitting, seen))
        load = replace(load, groups=groups, refused=refused)
        carried = packed(load if self.values else load.without_values())
        columns.append(self._marker(carried))
        joined = [pa.concat_arrays([each[name] for each in columns]) for name in self._read]
        numbers = pa.array([*range(load.rows), None], pa.int32())
        return pa.RecordBatch.from_arrays([numbers, *joined], schema=self.schema)

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
        return {name: _cast(found[name], self.schema.field(name).type) for name in self._read}

    def _fitting(
        self, group: pa.RecordBatch, refused: list[Refused]
    ) -> tuple[pa.RecordBatch, dict[str, pa.Array]]:
        """The records whose values fit, and these; the others are added to ``refused``."""
        try:
            return group, self._value(group)
        except (pa.ArrowException, ValueError):
            fits = [self._fits(group.slice(row, 1)) for row in range(group.num_rows)]
        problem = Problem(
            f"the value is {group.schema.field('value').type}, which does not fit the schema of "
            f"the transform, {self.schema_text}"
        )
        refused += [(group.slice(row, 1), problem) for row, fit in enumerate(fits) if not fit]
        left = group.filter(pa.array(fits, pa.bool_()))
        return left, self._value(left) if left.num_rows else {}

    def _fits(self, row: pa.RecordBatch) -> bool:
        try:
            self._value(row)
        except (pa.ArrowException, ValueError):
            return False
        return True

    def _value(self, group: pa.RecordBatch) -> dict[str, pa.Array]:
        array, wanted = group.column("value"), self.schema.field(TYPED).type
        if pa.types.is_null(array.type):
            return {}
        if pa.types.is_nested(wanted) and _is_text(array.type):
            return {JSON: _json_texts(array)}
        if not pa.types.is_nested(wanted) and is_schemaless(group.schema.field("value")):
            array = texts(array)
        if pa.types.is_string(wanted):
            return {TYPED: texts(array)}
        return {TYPED: fitted(array, wanted)}


def _is_text(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.JsonType) or pa.types.is_string(kind) or pa.types.is_binary(kind)


def _json_texts(array: pa.Array) -> pa.Array:
    storage = array.storage if isinstance(array.type, pa.JsonType) else array
    found = storage.cast(pa.string())
    # The text of a JSON null is no object, but no broken one either.
    return pc.if_else(pc.equal(found, "null"), pa.scalar(None, pa.string()), found)


def fitted(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """``array`` in another type: fields of structs by their names, null where there is none.

    ArrowException if it does not fit.
    """
    if not (pa.types.is_struct(wanted) and pa.types.is_struct(array.type)):
        return _cast(array, wanted)
    known = {field.name for field in array.type}
    children = [
        fitted(pc.struct_field(array, [field.name]), field.type)
        if field.name in known
        else pa.nulls(len(array), field.type)
        for field in wanted
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def _cast(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    return array if array.type.equals(wanted) else pc.cast(array, wanted)


def texts(array: pa.Array) -> pa.Array:
    """Keys or values as text; what is not text, as JSON."""
    kind = array.type
    if isinstance(kind, pa.JsonType):
        return pa.array([_plain(text) for text in array.storage.to_pylist()], pa.string())
    if pa.types.is_string(kind) or pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_binary(kind):
        found = array.to_pylist()
        return pa.array(
            [None if data is None else data.decode(errors="replace") for data in found],
            pa.string(),
        )
    return pa.array([_written(value) for value in array.to_pylist()], pa.string())


def _plain(text: str | None) -> str | None:
    if text is None:
        return None
    value = orjson.loads(text)
    return value if isinstance(value, str) else text


def _written(value: Any) -> str | None:
    if value is None:
        return None
    options = orjson.OPT_NON_STR_KEYS
    return orjson.dumps(value, default=str, option=options).decode()


def _offsets(group: pa.RecordBatch) -> pa.Array:
    known = "offset" in group.schema.names
    return group.column("offset") if known else pa.nulls(group.num_rows, pa.int64())
