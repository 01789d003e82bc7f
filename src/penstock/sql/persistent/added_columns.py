"""Stages that add columns to a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Stage = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def with_columns(frame: DataFrame, stage: Stage, added: Mapping[str, str]) -> DataFrame:
    """What ``stage`` makes of ``frame``: further columns of these types, and perhaps further rows.

    Any column may be NULL in these, also one that never is in ``frame``, such as a count.
    """
    from pyspark.sql.types import StructField, StructType, _parse_datatype_string

    given = [StructField(each.name, each.dataType) for each in frame.schema.fields]
    more = [StructField(name, _parse_datatype_string(kind)) for name, kind in added.items()]
    return frame.mapInArrow(stage, StructType([*given, *more]))
