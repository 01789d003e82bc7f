"""A step of Spark SQL as a plan: one row stays one row, or none, and a bad one says so.

Spark's own expressions raise errors, which would end the job and name no record. So each is wrapped
in Spark's TryEval, whose null says that something was raised: a struct is never null by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from penstock.engine.frames.fitting import JSON, TYPED
from penstock.engine.frames.problems import PROBLEM
from penstock.engine.frames.seen_columns import HEADERS, LOAD, MENTIONED, ROW, Seen
from penstock.engine.frames.sql_step import SqlStep
from penstock.sdk.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

VALUE: Final = "__value"
BROKEN: Final = "__broken"
PUBLIC: Final = ("key", "value", "topic", "partition", "offset", "timestamp")
NAME_FIELDS: Final = "name the fields of the value in schema: without it the value is one text"
HEADER_TYPE: Final = "array<struct<key:string,value:binary>>"
SETTINGS: Final = {
    # Spark would compute what two expressions share outside of both, where nothing is caught.
    "spark.sql.subexpressionElimination.enabled": "false",
    # Ten thousand rows may carry as many loads.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 << 20),
}


def own_session(spark: SparkSession) -> SparkSession:
    """A session beside ``spark`` for such plans."""
    session = spark.newSession()
    prepare(session)
    return session


def prepare(session: SparkSession) -> None:
    """Let a session plan such steps."""
    for key, value in SETTINGS.items():
        session.conf.set(key, value)


def type_of(schema: str) -> DataType:
    """The type that a schema says; ConfigError."""
    from pyspark.errors import PySparkException
    from pyspark.sql.types import _parse_datatype_string

    try:
        return _parse_datatype_string(schema)
    except PySparkException as error:
        raise _refused("schema", error) from None


def seen_type(step: SqlStep) -> StructType:
    """The columns of rows that come to the step, as ``Seen`` makes them."""
    from pyspark.sql.types import StructType

    kept = f", {HEADERS} {HEADER_TYPE}" if MENTIONED.search(step.text) else ""
    own = _struct(f"{ROW} int, {LOAD} binary, {JSON} string").add(TYPED, type_of(step.schema))
    rest = _struct(
        "key string, topic string, partition int, offset bigint, timestamp timestamp" + kept
    )
    return StructType([*own.fields, *rest.fields])


def seen_by(step: SqlStep, *, values: bool) -> Seen:
    """Makes the rows that come to the step. ``values``: they are needed as they were."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return Seen(to_arrow_schema(seen_type(step)), step.schema, values or not step.expressions)


def _struct(text: str) -> Any:
    from pyspark.sql.types import _parse_datatype_string

    return _parse_datatype_string(text)


def computed(rows: DataFrame, step: SqlStep) -> DataFrame:
    """Of rows of ``seen_type``: their numbers and loads, the new value, and what was wrong.

    ConfigError for what Spark cannot do, or what makes something else than one row of one.
    """
    from pyspark.sql import functions as sql

    marker = sql.col(ROW).isNull()
    seen = with_value(rows, type_of(step.schema), "value")
    seen = seen.withColumn("__kept", _tried(_condition(seen, step)))
    broken = (sql.col(BROKEN) if BROKEN in seen.columns else sql.lit(False)).alias(BROKEN)
    kept = seen.where(marker | broken | sql.col("__kept").isNull() | sql.col("__kept.keep"))
    good = ~marker & ~broken & sql.col("__kept").isNotNull()
    made = [] if not step.expressions else _made(kept, step)
    tried = _tried(sql.struct(sql.when(good, _value(made)).alias("v"))) if made else None
    done = kept if tried is None else kept.withColumn("__made", tried)
    problem = (
        sql.when(marker, sql.lit(None).cast("string"))
        .when(broken, sql.lit(f"the value is not JSON of the schema, {step.schema}"))
        .when(sql.col("__kept").isNull(), sql.lit(f"where cannot be computed: {step.where}"))
    )
    if made:
        problem = problem.when(sql.col("__made").isNull(), _which(made))
    columns = [sql.col(ROW), sql.col(LOAD), problem.alias(PROBLEM)]
    if made:
        columns.append(sql.col("__made.v").alias(VALUE))
    return done.select(*columns)


def with_value(rows: DataFrame, kind: DataType, name: str) -> DataFrame:
    """``rows``, which have ``JSON`` and ``TYPED``, with the value of either as column ``name``.

    ``BROKEN``, if the type is nested: whether it is text that cannot be read as JSON of that type.
    """
    from pyspark.sql import functions as sql
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if isinstance(kind, StructType):
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BROKEN}
        parsed = sql.from_json(JSON, StructType([*kind.fields]).add(BROKEN, StringType()), options)
        read = rows.withColumn("__parsed", parsed)
        broken = sql.col(f"__parsed.{BROKEN}").isNotNull()
        plain = sql.col("__parsed").dropFields(BROKEN).cast(kind)
    elif isinstance(kind, ArrayType | MapType):
        read = rows.withColumn("__parsed", sql.from_json(JSON, kind.simpleString()))
        broken = sql.col(JSON).isNotNull() & sql.col("__parsed").isNull()
        plain = sql.col("__parsed")
    else:
        return rows.withColumn(name, sql.col(TYPED))
    value = sql.when(sql.col(JSON).isNotNull(), plain).otherwise(sql.col(TYPED))
    return read.withColumns({BROKEN: broken, name: value})


def _condition(seen: DataFrame, step: SqlStep) -> Column:
    """A struct that says whether a row stays."""
    from pyspark.sql import functions as sql

    if not step.where:
        return sql.struct(sql.lit(True).alias("keep"))
    [(_, condition, kind)] = _analysed(seen, [step.where], "where")
    if kind != "boolean":
        raise ConfigError(f"where is {kind}, and has to be a condition", key="where")
    return sql.struct(sql.coalesce(condition, sql.lit(False)).alias("keep"))


Made = tuple[str, "Column", str]
"""A name, what it stands for, and its type in Spark's words."""


def _made(seen: DataFrame, step: SqlStep) -> list[Made]:
    made = _analysed(seen, step.expressions, "expression")
    names = [name for name, _, _ in made]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"expression makes two fields {twice}: name one otherwise", key=None)
    return made


def _value(made: Sequence[Made]) -> Column:
    """Null stays null: a tombstone."""
    from pyspark.sql import functions as sql

    if [name for name, _, _ in made] == ["value"]:
        whole = made[0][1]
    else:
        whole = sql.struct(*(column.alias(name) for name, column, _ in made))
    return sql.when(sql.col("value").isNotNull(), whole)


def _which(made: Sequence[Made]) -> Column:
    """The names of the fields that cannot be computed of a row."""
    from pyspark.sql import functions as sql

    bad = (
        sql.when(_tried(sql.struct(c.alias("v"))).isNull(), sql.lit(name)) for name, c, _ in made
    )
    return sql.concat(sql.lit("expression cannot be computed: "), sql.concat_ws(", ", *bad))


def _tried(column: Column) -> Column:
    """``column``; null where it cannot be computed."""
    from pyspark.sql import Column

    jvm = _jvm()
    expression = jvm.org.apache.spark.sql.classic.ExpressionUtils.expression(column._jc)
    tried = jvm.org.apache.spark.sql.catalyst.expressions.TryEval(expression)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(tried))


def _jvm() -> Any:
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    assert context is not None  # noqa: S101 (frames are made in a session)
    return context._jvm


def _analysed(seen: DataFrame, texts: Sequence[str], key: str) -> list[Made]:
    """The columns that these expressions stand for; ConfigError unless one row makes one row."""
    from pyspark.errors import PySparkException
    from pyspark.sql import Column

    headers = [HEADERS] if HEADERS in seen.columns else []
    view = seen.select(*PUBLIC, *headers)
    try:
        plan = view.selectExpr(*texts)._jdf.queryExecution().analyzed()
    except PySparkException as error:
        raise _refused(key, error) from None
    below = list(_nodes(view._jdf.queryExecution().analyzed()))
    added = list(_nodes(plan))[: -len(below)]
    if added != ["Project"]:
        found = next((name for name in added if name != "Project"), "several rows")
        raise ConfigError(
            f"{key}: this does not make one record of one ({found}): leave out "
            "aggregates, windows and functions such as explode",
            key=key,
        )
    utils, made = _jvm().org.apache.spark.sql.classic.ExpressionUtils, plan.projectList()
    return [
        (str(each.name()), Column(utils.column(each)), str(each.dataType().simpleString()))
        for each in (made.apply(index) for index in range(made.size()))
    ]


def _nodes(plan: Any) -> Iterator[str]:
    yield str(plan.nodeName())
    children = plan.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))


def _refused(key: str, error: Exception) -> ConfigError:
    line = next((line for line in str(error).splitlines() if line.strip()), "Spark gave no reason")
    remedy = f" ({NAME_FIELDS})" if "INVALID_EXTRACT_BASE_FIELD_TYPE" in line else ""
    return ConfigError(f"{key}: {line.strip()}{remedy}", key=key)
