"""Records of a connector in the columns that Spark was promised."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from penstock.sdk.batches import record_batch
from pyspark_penstock.columns import fitted, shaped
from pyspark_penstock.options import OptionError


def struct(**fields: object) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])  # type: ignore[arg-type]  # Spark's types


def test_every_column_has_a_type_that_spark_has() -> None:
    found = shaped(record_batch("t", pa.array(["a", None]), timestamp=pa.array([1500, None])))
    assert found.schema.names == ["topic", "partition", "key", "value", "timestamp", "headers"]
    assert found.column("topic").to_pylist() == ["t", "t"]
    assert (found.schema.field("key").type, found.column("key").null_count) == (pa.string(), 2)
    moment = found.column("timestamp")[0].as_py()
    assert moment.timestamp() == 1.5


def test_columns_by_name_and_in_the_order_of_the_frame() -> None:
    batch = shaped(record_batch("t", pa.array([1, 2])))
    found = fitted(batch, struct(value=IntegerType(), topic=StringType()))
    assert found.schema.types == [pa.int32(), pa.string()]
    assert found.column("value").to_pylist() == [1, 2]
    assert fitted(batch, struct(timestamp=TimestampType())).column(0).null_count == 2


def test_fields_that_records_lack_are_null_and_others_are_left_out() -> None:
    rows = pa.array([{"b": 1, "a": {"x": 1, "y": 2}}, None, {"b": None, "a": None}])
    inner = struct(y=LongType(), z=StringType())
    found = fitted(shaped(record_batch("t", rows)), struct(value=struct(a=inner, c=StringType())))
    assert found.column("value").to_pylist() == [
        {"a": {"y": 2, "z": None}, "c": None},
        None,
        {"a": None, "c": None},
    ]


def test_what_does_not_fit_is_named() -> None:
    batch = shaped(record_batch("t", pa.array([{"a": "text"}])))
    with pytest.raises(OptionError, match=r"a record has string in value\.a, where .* has int64"):
        fitted(batch, struct(value=struct(a=LongType())))
    with pytest.raises(OptionError, match="there is no column offset: records have topic"):
        fitted(batch, struct(offset=LongType()))
