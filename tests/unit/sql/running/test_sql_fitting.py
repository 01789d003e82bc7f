"""Values that rows are made of: those that could not be read again are refused."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from penstock.sql.avro.columns import AvroWriters
from penstock.sql.avro.registry import NO_REGISTRY
from penstock.sql.errors import StatementError
from penstock.sql.grammar.parser import parse
from penstock.sql.running.fitting import fitted
from penstock.sql.running.inserting import literal_row, record_of
from penstock.sql.statements.queries import InsertValues
from penstock.sql.statements.types import SqlType
from query_cases import declared

INTEGER, VARCHAR = SqlType("INTEGER"), SqlType("VARCHAR")
PLACE = SqlType("STRUCT", fields=(("CITY", VARCHAR), ("ZIP", INTEGER)))
LIST = SqlType("ARRAY", (INTEGER,))
PRICE = SqlType("DECIMAL", precision=(4, 2))


@pytest.mark.parametrize(
    ("value", "kind", "stored"),
    [
        (2**31 - 1, INTEGER, 2**31 - 1),
        (-(2**63), SqlType("BIGINT"), -(2**63)),
        (Decimal("1.5"), SqlType("DOUBLE"), 1.5),
        ("1970-01-03", SqlType("DATE"), 2),
        (2, SqlType("DATE"), 2),
        ("1970-01-01T00:00:01", SqlType("TIMESTAMP"), 1000),
        ("1970-01-01T01:00:01.250+01:00", SqlType("TIMESTAMP"), 1250),
        ({"city": "x", "ZIP": None}, PLACE, {"city": "x", "ZIP": None}),
        ([1, None], LIST, [1, None]),
        (None, LIST, None),
        ("aGk=", SqlType("BYTES"), "aGk="),
        ("", SqlType("BYTES"), ""),
        (Decimal("99.994"), PRICE, Decimal("99.994")),
        (-99, PRICE, -99),
        (Decimal("9" * 38), SqlType("DECIMAL"), Decimal("9" * 38)),
    ],
)
def test_what_fits_is_stored(value: Any, kind: SqlType, stored: Any) -> None:
    assert fitted("C", value, kind) == stored


@pytest.mark.parametrize(
    ("value", "kind", "says"),
    [
        (2**31, INTEGER, "C is INTEGER: 2147483648 is too large."),
        (-(2**63) - 1, SqlType("BIGINT"), "is too large."),
        (True, INTEGER, "C is INTEGER: True does not fit."),
        ("31.1.2026", SqlType("DATE"), "Write it as '2026-01-31'."),
        ("noon", SqlType("TIMESTAMP"), "Write it as '2026-01-31T12:00:00'."),
        (Decimal("99.995"), PRICE, "C is DECIMAL(4, 2): 99.995 is too large."),
        (-100, PRICE, "is too large."),
        (float("inf"), PRICE, "is too large."),
        (10**38, SqlType("DECIMAL"), "is too large."),
        (1e300, SqlType("DECIMAL", precision=(38, 2)), "is too large."),
        ("hi there", SqlType("BYTES"), "C is BYTES: 'hi there' does not fit. Write it in base64."),
        (["aGk"], SqlType("ARRAY", (SqlType("BYTES"),)), "C[1] is BYTES: 'aGk' does not fit."),
        ([1, "x"], LIST, "C[2] is INTEGER: 'x' does not fit."),
        ({"p": "x"}, SqlType("MAP", (VARCHAR, INTEGER)), "C['p'] is INTEGER: 'x' does not fit."),
        ({"CITTY": "x"}, PLACE, "it has no field CITTY. Did you mean CITY?"),
        ({"ZIP": "x"}, PLACE, "C->ZIP is INTEGER: 'x' does not fit."),
    ],
)
def test_what_could_not_be_read_again_is_refused(value: Any, kind: SqlType, says: str) -> None:
    with pytest.raises(StatementError) as caught:
        fitted("C", value, kind)
    assert says in str(caught.value)


def test_a_record_has_every_place_of_a_number_and_any_text() -> None:
    columns = "x DECIMAL(30, 10), y ARRAY<DECIMAL(30, 10)>, t VARCHAR, o STRUCT<b BOOLEAN>"
    source = declared(f"CREATE STREAM s ({columns}) WITH (kafka_topic='s')")
    number = "12345678901234567890.0123456789"
    values = f"{number}, ARRAY[-{number}, NULL], 'a \"b\" ü', STRUCT(b := true)"
    statement = parse("INSERT INTO s VALUES (" + values + ")")  # noqa: S608 (a statement is tested)
    assert isinstance(statement, InsertValues)
    row = literal_row(source, statement.columns, statement.rows[0])
    _, value, _ = record_of(AvroWriters(NO_REGISTRY, source), row)
    assert json.loads(value, parse_float=Decimal) == {
        "X": Decimal(number),
        "Y": [Decimal(f"-{number}"), None],
        "T": 'a "b" ü',
        "O": {"B": True},
    }


@pytest.mark.parametrize(("form", "stored"), [("KAFKA", b"hi"), ("JSON", None)])
def test_bytes_of_kafkas_own_format_are_a_text(form: str, stored: bytes | None) -> None:
    source = declared(f"CREATE STREAM s (b BYTES) WITH (kafka_topic='s', value_format='{form}')")
    writers = AvroWriters(NO_REGISTRY, source)
    if stored is None:
        with pytest.raises(StatementError, match="Write it in base64"):
            record_of(writers, {"B": "hi"})
    else:
        assert record_of(writers, {"B": "hi"})[1] == stored
