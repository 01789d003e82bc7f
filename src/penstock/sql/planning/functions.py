"""The functions of SQL, and what each is in Spark: a template with its arguments in braces.

Only these can be called: Spark has functions that reach outside of a query. Those that could fail
are in the form that gives NULL instead.
"""

from __future__ import annotations

from penstock.sql.errors import StatementError, nearest

ANY = "*"
"""All arguments, separated by commas."""

SCALAR = {
    "ABS": "abs({0})",
    "ARRAY_CONTAINS": "array_contains({0}, {1})",
    "ARRAY_DISTINCT": "array_distinct({0})",
    "ARRAY_JOIN": "array_join({0}, {1})",
    "ARRAY_LENGTH": "size({0})",
    "ARRAY_MAX": "array_max({0})",
    "ARRAY_MIN": "array_min({0})",
    "ARRAY_SORT": "sort_array({0})",
    "AS_VALUE": "{0}",
    "CEIL": "ceil({0})",
    "COALESCE": "coalesce({*})",
    "CONCAT": "concat({*})",
    "CONCAT_WS": "concat_ws({*})",
    "CONVERT_TZ": "convert_timezone({1}, {2}, {0})",
    "DATEADD": "timestampadd({0}, {1}, {2})",
    "EXP": "exp({0})",
    "EXTRACTJSONFIELD": "get_json_object({0}, {1})",
    "FLOOR": "floor({0})",
    "FORMAT_DATE": "date_format({0}, {1})",
    "FORMAT_TIMESTAMP": "date_format({0}, {1})",
    "FROM_UNIXTIME": "timestamp_millis({0})",
    "GREATEST": "greatest({*})",
    "IFNULL": "ifnull({0}, {1})",
    "INITCAP": "initcap({0})",
    "INSTR": "instr({0}, {1})",
    "LCASE": "lower({0})",
    "LEAST": "least({*})",
    "LEN": "length({0})",
    "LN": "ln({0})",
    "LPAD": "lpad({0}, {1}, {2})",
    "MAP_KEYS": "map_keys({0})",
    "MAP_VALUES": "map_values({0})",
    "NULLIF": "nullif({0}, {1})",
    "PARSE_DATE": "cast(try_to_timestamp({0}, {1}) as date)",
    "PARSE_TIMESTAMP": "try_to_timestamp({0}, {1})",
    "REGEXP_EXTRACT": "regexp_extract({1}, {0}, 0)",
    "REGEXP_REPLACE": "regexp_replace({0}, {1}, {2})",
    "REPLACE": "replace({0}, {1}, {2})",
    "ROUND": "round({*})",
    "RPAD": "rpad({0}, {1}, {2})",
    "SIGN": "sign({0})",
    "SPLIT": "split({0}, concat('\\\\Q', {1}, '\\\\E'))",
    "SQRT": "sqrt({0})",
    "SUBSTRING": "substring({*})",
    "TIMESTAMPTOSTRING": "date_format(timestamp_millis({0}), {1})",
    "TRIM": "trim({0})",
    "UCASE": "upper({0})",
    "UNIX_TIMESTAMP": "unix_millis({0})",
}
AGGREGATES = {
    "AVG": "try_avg({*})",
    "COLLECT_LIST": "collect_list({*})",
    "COLLECT_SET": "collect_set({*})",
    "COUNT": "count({*})",
    "COUNT_DISTINCT": "count(DISTINCT {0})",
    "MAX": "max({*})",
    "MIN": "min({*})",
    "SUM": "try_sum({*})",
}
TEXT = {
    "CONCAT",
    "CONCAT_WS",
    "EXTRACTJSONFIELD",
    "FORMAT_DATE",
    "FORMAT_TIMESTAMP",
    "INITCAP",
    "LCASE",
    "LPAD",
    "REGEXP_EXTRACT",
    "REGEXP_REPLACE",
    "REPLACE",
    "RPAD",
    "SUBSTRING",
    "TIMESTAMPTOSTRING",
    "TRIM",
    "UCASE",
}
"""Those that give text."""


def spark_call(name: str, arguments: list[str], *, distinct: bool) -> str:
    """The call as Spark has it; StatementError for a name or a count that is wrong."""
    template = {**SCALAR, **AGGREGATES}.get(name)
    if template is None:
        hint = nearest(name, [*SCALAR, *AGGREGATES])
        raise StatementError(f"There is no function {name}.{hint} SHOW FUNCTIONS; lists all.")
    listed = ("DISTINCT " if distinct else "") + ", ".join(arguments)
    try:
        return template.replace("{*}", listed.replace("{", "{{").replace("}", "}}")).format(
            *arguments
        )
    except IndexError:
        raise StatementError(f"{name} needs more than {len(arguments)} argument(s).") from None
