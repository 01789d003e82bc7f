"""Times out of numbers, in Spark's SQL: NULL for those before the year 1 or after the year 9999.

Spark's own forms fail for numbers that are far too large, and Python has no others.
"""

from __future__ import annotations

FIRST_MOMENT, LAST_MOMENT = -62_135_596_800_000, 253_402_300_799_999
FIRST_DAY, LAST_DAY = -719_162, 2_932_896


def timeless(column: str) -> str:
    """What is told of a row whose time is NULL, or is one that no record can have."""
    return f"there is no time between 1970 and 9999 in column {column}"


def moment_of(milliseconds: str) -> str:
    """The time so many milliseconds after the beginning of 1970."""
    known = f"{milliseconds} BETWEEN {FIRST_MOMENT} AND {LAST_MOMENT}"
    return f"CASE WHEN {known} THEN timestamp_millis({milliseconds}) END"


def day_of(days: str) -> str:
    """The date so many days after the first of 1970."""
    known = f"{days} BETWEEN {FIRST_DAY} AND {LAST_DAY}"
    return f"CASE WHEN {known} THEN date_add(DATE'1970-01-01', {days}) END"
