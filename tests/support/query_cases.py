"""The queries of tests/data/sql/queries*.yaml."""

from __future__ import annotations

from typing import Any

import yaml

from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.grammar.parser import parse
from penstock.sql.planning.queries import Plan, planned
from penstock.sql.statements.queries import Select
from penstock.sql.statements.sources import CreateSource
from project_scripts import ROOT

FILES = sorted((ROOT / "tests/data/sql").glob("queries*.yaml"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in yaml.safe_load(file.read_text())]


def title(case: dict[str, Any]) -> str:
    return str(case["title"]).replace(" ", "-")


def declared(text: str) -> Source:
    statement = parse(text)
    assert isinstance(statement, CreateSource)
    given = {key.upper(): value or "" for key, value in statement.properties}
    return Source(
        statement.kind,
        statement.name,
        given["KAFKA_TOPIC"],
        statement.columns,
        key_format=given.get("KEY_FORMAT", "KAFKA"),
        value_format=given.get("VALUE_FORMAT", "JSON"),
        delimiter=given.get("VALUE_DELIMITER", ","),
        timestamp=given.get("TIMESTAMP", ""),
    )


def plan_of(case: dict[str, Any]) -> Plan:
    """What Spark is given; SqlError where the query is refused."""
    sources = {s.name: s for s in (declared(each["declare"]) for each in case["sources"])}

    def find(name: str) -> Source:
        if name not in sources:
            raise StatementError(f"There is no stream or table {name}.")
        return sources[name]

    select = parse(case["sql"])
    assert isinstance(select, Select)
    return planned(select.query, find)


def records_of(case: dict[str, Any], source: Source) -> list[Any]:
    """The records of a source: pairs of key and value."""
    found: list[Any] = next(
        each["records"] for each in case["sources"] if declared(each["declare"]) == source
    )
    return found
