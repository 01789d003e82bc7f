"""What can be told of expressions of Spark SQL without Spark."""

from __future__ import annotations

import pytest

from penstock.sdk.errors import ConfigError
from penstock.sdk.sql_expressions import expressions, row_expression, row_expressions


def test_semicolons_in_texts_and_names_separate_nothing() -> None:
    text = "concat(';', value.a) AS x; `a;b`; \"c;d\" -- e; f\n; 'it\\'s;' AS y"
    assert expressions("select", text) == [
        "concat(';', value.a) AS x",
        "`a;b`",
        '"c;d" -- e; f',
        "'it\\'s;' AS y",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("explode(value.items)", "makes several rows"),
        ("value.id; POSEXPLODE_OUTER (value.items)", "makes several rows"),
        ("sum(value.amount) AS total", "is an aggregate"),
        ("count(*)", "is an aggregate"),
        ("lag(value.id) OVER (ORDER BY offset)", "looks at many rows"),
        ("(SELECT max(id) FROM people)", "may not use SELECT"),
        ("exists(table people)", "may not use table"),
        ("upper(value.name", r"a \( is not closed"),
        ("upper(value.name))", r"a \) too many"),
        ("value.list[0", r"a \[ is not closed"),
        ("concat('a, value.name)", "a ' is not closed"),
        ("value.`name", "a ` is not closed"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        row_expressions("expression", text)


@pytest.mark.parametrize(
    "text",
    [
        "array_max(value.list) AS most; aggregate(value.list, 0, (a, b) -> a + b) AS total",
        "concat('sum(', value.name, ')') AS shown",
        "value.*; value.list[0] AS first; CASE WHEN value.n > 1 THEN 'a' ELSE 'b' END AS kind",
        "",
    ],
)
def test_what_is_fine(text: str) -> None:
    assert "; ".join(row_expressions("expression", text)) == text


def test_a_condition_is_one_expression() -> None:
    assert row_expression("where", " value.id > 1 ") == "value.id > 1"
    assert row_expression("where", "") == ""
    with pytest.raises(ConfigError, match="AND"):
        row_expression("where", "value.id > 1; value.id < 9")
