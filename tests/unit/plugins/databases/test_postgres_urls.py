"""What a URL of PostgreSQL's JDBC driver says besides host and database."""

from __future__ import annotations

import pytest

from penstock.plugins.databases.database_errors import shown
from penstock.plugins.databases.postgres_url import postgresql


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("currentSchema=shop", "-c%20search_path%3Dshop"),
        ("currentSchema=a,%22b c%22", "-c%20search_path%3Da%2C%22b%5C%20c%22"),
        ("options=-c%20geqo%3Doff&currentSchema=a", "-c%20geqo%3Doff%20-c%20search_path%3Da"),
    ],
)
def test_the_schema_of_tables_without_one(query: str, options: str) -> None:
    assert f"options={options}&" in postgresql(f"//h/d?{query}", None, None).uri


@pytest.mark.parametrize("password", ["hunter2", "p@ss/w%rd"])
def test_an_error_that_repeats_the_address_shows_no_password(password: str) -> None:
    database = postgresql("//h/d", "me", password)
    told = shown(database, ValueError(f"{database.uri} is wrong; {password}."))
    assert told.count("[hidden]") == 2
    assert "ss%2Fw" not in told
    assert password not in told


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("IO: [libpq] Failed to execute query 'INSERT INTO \"it's\" ': ERROR: no, it's x: y",
         "IO: [libpq] Failed to execute query: ERROR: no, it's x: y"),
        ("Failed to prepare query: FEHLER: nein\nQuery was: SELECT 1. SQLSTATE: 42601",
         "Failed to prepare query: FEHLER: nein. SQLSTATE: 42601"),
        ("Failed to execute query 'COPY (SELECT 1)': could not receive data", None),
    ],
)  # fmt: skip
def test_an_error_does_not_repeat_the_query(said: str, left: str | None) -> None:
    """Of a wide table that is longer than what is shown of an error, and hides the reason."""
    assert shown(postgresql("//h/d", None, None), ValueError(said)) == (left or said)
