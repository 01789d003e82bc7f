"""What each function of SQL is in Spark: a template, or several for different counts of arguments.

``{0}`` is an argument, ``{*}`` all of them, ``{+}`` all but the first, each separated by commas.
Those that could fail are in the form that gives NULL instead. Names in lambdas shadow columns, so
they are such as no user has.
"""

from __future__ import annotations

from penstock.sql.planning.moments import day_of, moment_of

Template = str | tuple[str, ...]

EARTH_KM = 6371
HALVES = "pow(sin(radians({2} - {0}) / 2), 2)", "pow(sin(radians({3} - {1}) / 2), 2)"
DISTANCE = (
    f"(2 * {EARTH_KM} * "
    f"asin(sqrt({HALVES[0]} + cos(radians({{0}})) * cos(radians({{2}})) * {HALVES[1]})))"
)
MILES = "(CASE WHEN upper({4}) LIKE 'MI%' THEN 0.621371192 ELSE 1 END)"
DAY, MOMENT = day_of("{0}"), moment_of("{0}")
MASKING = "'X', 'x', 'n', '-'"
TO_BYTES = (
    "CASE lower({1}) WHEN 'hex' THEN unhex({0}) WHEN 'base64' THEN try_to_binary({0}, 'base64') "
    "WHEN 'utf8' THEN CAST({0} AS BINARY) WHEN 'ascii' THEN CAST({0} AS BINARY) END"
)
FROM_BYTES = (
    "CASE lower({1}) WHEN 'hex' THEN hex({0}) WHEN 'base64' THEN base64({0}) "
    "WHEN 'utf8' THEN CAST({0} AS STRING) WHEN 'ascii' THEN CAST({0} AS STRING) END"
)
ENCODE = FROM_BYTES.replace("{1}", "{2}").replace("{0}", f"({TO_BYTES})")
PARSED = "try_to_timestamp({0}, {1})"
PORT = "regexp_extract(try_parse_url({0}, 'AUTHORITY'), ':([0-9]+)$', 1)"

TEXTS: dict[str, Template] = {
    "CONCAT": "concat({*})",
    "CONCAT_WS": "concat_ws({*})",
    "DATETOSTRING": f"date_format({DAY}, {{1}})",
    "ELT": "elt({*})",
    "ENCODE": ENCODE,
    "EXTRACTJSONFIELD": "get_json_object({0}, {1})",
    "FORMAT_DATE": "date_format({0}, {1})",
    "FORMAT_TIMESTAMP": (
        "date_format({0}, {1})",
        "date_format(from_utc_timestamp({0}, {2}), {1})",
    ),
    "FROM_BYTES": FROM_BYTES,
    "INITCAP": "initcap({0})",
    "LCASE": "lower({0})",
    "LPAD": "lpad({0}, {1}, {2})",
    "MASK": (f"mask({{0}}, {MASKING})", "mask({0}, {1}, {2}, {3}, {4})"),
    "MASK_KEEP_LEFT": f"concat(left({{0}}, {{1}}), mask(substring({{0}}, {{1}} + 1), {MASKING}))",
    "MASK_KEEP_RIGHT": (
        f"concat(mask(left({{0}}, length({{0}}) - {{1}}), {MASKING}), right({{0}}, {{1}}))"
    ),
    "MASK_LEFT": f"concat(mask(left({{0}}, {{1}}), {MASKING}), substring({{0}}, {{1}} + 1))",
    "MASK_RIGHT": (
        f"concat(left({{0}}, length({{0}}) - {{1}}), mask(right({{0}}, {{1}}), {MASKING}))"
    ),
    "REGEXP_EXTRACT": (
        "CASE WHEN regexp_like({1}, {0}) THEN regexp_extract({1}, {0}, 0) END",
        "CASE WHEN regexp_like({1}, {0}) THEN regexp_extract({1}, {0}, {2}) END",
    ),
    "REGEXP_REPLACE": "regexp_replace({0}, {1}, {2})",
    "REPLACE": "replace({0}, {1}, {2})",
    "RPAD": "rpad({0}, {1}, {2})",
    "SUBSTRING": ("substring({0}, {1})", "substring({0}, {1}, {2})"),
    "TIMESTAMPTOSTRING": (
        f"date_format({MOMENT}, {{1}})",
        f"date_format(from_utc_timestamp({MOMENT}, {{2}}), {{1}})",
    ),
    "TO_JSON_STRING": "substring(to_json(array({0})), 2, length(to_json(array({0}))) - 2)",
    "TRIM": "trim({0})",
    "UCASE": "upper({0})",
    "URL_DECODE_PARAM": "try_url_decode({0})",
    "URL_ENCODE_PARAM": "url_encode({0})",
    "URL_EXTRACT_FRAGMENT": "try_parse_url({0}, 'REF')",
    "URL_EXTRACT_HOST": "try_parse_url({0}, 'HOST')",
    "URL_EXTRACT_PARAMETER": "try_parse_url({0}, 'QUERY', {1})",
    "URL_EXTRACT_PATH": "try_parse_url({0}, 'PATH')",
    "URL_EXTRACT_PROTOCOL": "try_parse_url({0}, 'PROTOCOL')",
    "URL_EXTRACT_QUERY": "try_parse_url({0}, 'QUERY')",
    "UUID": "uuid()",
}
"""Those that give text."""

NUMBERS: dict[str, Template] = {
    "ABS": "abs({0})",
    "ACOS": "acos({0})",
    "ASIN": "asin({0})",
    "ATAN": "atan({0})",
    "ATAN2": "atan2({0}, {1})",
    "CBRT": "cbrt({0})",
    "CEIL": "ceil({0})",
    "COS": "cos({0})",
    "COSH": "cosh({0})",
    "COT": "cot({0})",
    "DEGREES": "degrees({0})",
    "EXP": "exp({0})",
    "FLOOR": "floor({0})",
    "GEO_DISTANCE": (DISTANCE, f"{DISTANCE} * {MILES}"),
    "INSTR": "instr({0}, {1})",
    "LEN": "length({0})",
    "LN": "ln({0})",
    "PI": "pi()",
    "POWER": "power({0}, {1})",
    "RADIANS": "radians({0})",
    "RANDOM": "rand()",
    "ROUND": ("round({0})", "round({0}, {1})"),
    "SIGN": "sign({0})",
    "SIN": "sin({0})",
    "SINH": "sinh({0})",
    "SQRT": "sqrt({0})",
    "TAN": "tan({0})",
    "TANH": "tanh({0})",
}

TIMES: dict[str, Template] = {
    "CONVERT_TZ": "CAST(convert_timezone({1}, {2}, CAST({0} AS TIMESTAMP_NTZ)) AS TIMESTAMP)",
    "FROM_DAYS": DAY,
    "FROM_UNIXTIME": MOMENT,
    "PARSE_DATE": f"cast({PARSED} as date)",
    "PARSE_TIMESTAMP": (PARSED, f"to_utc_timestamp({PARSED}, {{2}})"),
    "STRINGTODATE": f"unix_date(cast({PARSED} as date))",
    "STRINGTOTIMESTAMP": (
        f"unix_millis({PARSED})",
        f"unix_millis(to_utc_timestamp({PARSED}, {{2}}))",
    ),
    "UNIX_DATE": ("unix_date(current_date())", "unix_date({0})"),
    "UNIX_TIMESTAMP": ("unix_millis(current_timestamp())", "unix_millis({0})"),
}

WHOLES: dict[str, Template] = {
    "ARRAY_CONCAT": "concat({0}, {1})",
    "ARRAY_CONTAINS": "array_contains({0}, {1})",
    "ARRAY_DISTINCT": "array_distinct({0})",
    "ARRAY_EXCEPT": "array_except({0}, {1})",
    "ARRAY_INTERSECT": "array_intersect({0}, {1})",
    "ARRAY_JOIN": "array_join({0}, {1})",
    "ARRAY_LENGTH": "array_size({0})",
    "ARRAY_MAX": "array_max({0})",
    "ARRAY_MIN": "array_min({0})",
    "ARRAY_REMOVE": "array_remove({0}, {1})",
    "ARRAY_SORT": (
        "sort_array({0})",
        "if(upper({1}) LIKE 'DESC%', sort_array({0}, false), sort_array({0}))",
    ),
    "ARRAY_UNION": "array_union({0}, {1})",
    "AS_VALUE": "{0}",
    "COALESCE": "coalesce({*})",
    "ENTRIES": (
        "transform(map_entries({0}), penstock_e -> struct(penstock_e.key AS K, penstock_e.value "
        "AS V))"
    ),
    "FIELD": "array_position(array({+}), {0})",
    "GREATEST": "greatest({*})",
    "IFNULL": "ifnull({0}, {1})",
    "IS_JSON_STRING": "({0} IS NOT NULL AND try_parse_json({0}) IS NOT NULL)",
    "JSON_ARRAY_CONTAINS": ("array_contains(from_json({0}, 'array<string>'), CAST({1} AS STRING))"),
    "JSON_ARRAY_LENGTH": "json_array_length({0})",
    "JSON_ITEMS": "from_json({0}, 'array<string>')",
    "JSON_KEYS": "json_object_keys({0})",
    "JSON_RECORDS": "from_json({0}, 'map<string,string>')",
    "LEAST": "least({*})",
    "MAP_KEYS": "map_keys({0})",
    "MAP_UNION": "map_concat({0}, {1})",
    "MAP_VALUES": "map_values({0})",
    "NULLIF": "nullif({0}, {1})",
    "REGEXP_EXTRACT_ALL": (
        "regexp_extract_all({1}, {0}, 0)",
        "regexp_extract_all({1}, {0}, {2})",
    ),
    "REGEXP_SPLIT_TO_ARRAY": "split({0}, {1})",
    "SLICE": "filter({0}, (penstock_e, penstock_n) -> penstock_n + 1 BETWEEN {1} AND {2})",
    "SPLIT": "split({0}, concat('\\\\Q', {1}, '\\\\E'))",
    "SPLIT_TO_MAP": (
        "str_to_map({0}, concat('\\\\Q', {1}, '\\\\E'), concat('\\\\Q', {2}, '\\\\E'))"
    ),
    "TO_BYTES": TO_BYTES,
    "URL_EXTRACT_PORT": f"try_cast({PORT} AS INT)",
}

SCALAR: dict[str, Template] = dict(sorted({**TEXTS, **NUMBERS, **TIMES, **WHOLES}.items()))
AGGREGATES: dict[str, Template] = {
    "AVG": "try_avg({*})",
    "COLLECT_LIST": "collect_list({*})",
    "COLLECT_SET": "collect_set({*})",
    "COUNT": "count({*})",
    "COUNT_DISTINCT": "count(DISTINCT {0})",
    "MAX": "max({*})",
    "MIN": "min({*})",
    "STDDEV_SAMP": "stddev_samp({0})",
    "SUM": "try_sum({*})",
    "TOPK": "slice(sort_array(collect_list({0}), false), 1, {1})",
    "TOPKDISTINCT": "slice(sort_array(collect_set({0}), false), 1, {1})",
}
MOVING = {
    "DATEADD": (1, "date"),
    "DATESUB": (-1, "date"),
    "TIMESTAMPADD": (1, "timestamp"),
    "TIMESTAMPSUB": (-1, "timestamp"),
}
"""Those whose arguments are a unit, a number and a time, by what they give."""
UNITS = ("YEARS", "MONTHS", "WEEKS", "DAYS", "HOURS", "MINUTES", "SECONDS")
FAILING = {
    "DATETOSTRING",
    "FROM_DAYS",
    "FROM_UNIXTIME",
    "PARSE_DATE",
    "PARSE_TIMESTAMP",
    "STRINGTODATE",
    "STRINGTOTIMESTAMP",
    "TIMESTAMPTOSTRING",
    *MOVING,
}
"""Those that give NULL for what cannot be computed."""
