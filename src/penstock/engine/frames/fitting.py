"""Values of records in the type that a schema says, as columns of Spark's plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.frames.loads import Refused
from penstock.engine.frames.problems import Problem
from penstock.sdk.schema import is_schemaless

JSON: Final = "__json"
TYPED: Final = "__typed"
OF_SQL: Final = Problem("")
Columns = dict[str, pa.Array]
"""``TYPED`` for values with a schema, or ``JSON`` for texts that Spark is to parse; neither if all
are null."""


@dataclass(frozen=True)
class Fitting:
    """Picks the fields of values by their names. Picklable."""

    wanted: pa.DataType
    text: str
    """The schema as it is written, for errors; with whose it is."""
    step: Problem = OF_SQL
    """Which step a value is refused by that does not fit."""

    def columns(
        self, group: pa.RecordBatch, refused: list[Refused]
    ) -> tuple[pa.RecordBatch, Columns]:
        """The records whose values fit, and these; the others are added to ``refused``."""
        try:
            return group, self._value(group)
        except (pa.ArrowException, ValueError):
            fits = [self._fits(group.slice(row, 1)) for row in range(group.num_rows)]
        kind = group.schema.field("value").type
        problem = replace(self.step, text=f"the value is {kind}, which does not fit {self.text}")
        refused += [(group.slice(row, 1), problem) for row, fit in enumerate(fits) if not fit]
        left = group.filter(pa.array(fits, pa.bool_()))
        return left, self._value(left) if left.num_rows else {}

    def _fits(self, row: pa.RecordBatch) -> bool:
        try:
            self._value(row)
        except (pa.ArrowException, ValueError):
            return False
        return True

    def _value(self, group: pa.RecordBatch) -> Columns:
        array, wanted = group.column("value"), self.wanted
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
        return as_type(array, wanted)
    known = {field.name for field in array.type}
    children = [
        fitted(pc.struct_field(array, [field.name]), field.type)
        if field.name in known
        else pa.nulls(len(array), field.type)
        for field in wanted
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def as_type(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """``array`` in another type; ArrowException if it does not fit."""
    return array if array.type.equals(wanted) else pc.cast(array, wanted)


def texts(array: pa.Array) -> pa.Array:
    """Keys or values as text: what is not text, as JSON."""
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
