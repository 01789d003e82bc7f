"""Values that rows are made of: those that could not be read again are refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from penstock.sql.errors import StatementError
from penstock.sql.running.fitting import fitted
from penstock.sql.statements.types import SqlType

INTEGER, VARCHAR = SqlType("INTEGER"), SqlType("VARCHAR")
PLACE = SqlType("STRUCT", fields=(("CITY", VARCHAR), ("ZIP", INTEGER)))
LIST = SqlType("ARRAY", (INTEGER,))


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
