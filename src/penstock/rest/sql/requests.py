"""The bodies of requests: ksqlDB's names, of its older endpoints and of its newer ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.rest.sql.failures import BAD_REQUEST, Failure

TEXTS = ("ksql", "sql")
PROPERTIES = ("streamsProperties", "properties")


@dataclass(frozen=True)
class SqlRequest:
    """Statements, and what holds for them."""

    sql: str
    properties: Mapping[str, str]
    variables: Mapping[str, str]
    sequence: int = -1
    """The change of the catalog that must have been seen; -1 for none."""

    @staticmethod
    def of(body: bytes) -> SqlRequest:
        """What a body asks for; Failure if it is not of that form."""
        asked = parsed_object(body)
        sql = next((asked[key] for key in TEXTS if key in asked), None)
        if not isinstance(sql, str):
            raise Failure(BAD_REQUEST, 'The body needs the statements as a text, in "ksql".')
        given = next((asked[key] for key in PROPERTIES if key in asked), None)
        return SqlRequest(
            sql,
            _texts(given, PROPERTIES[0]),
            _texts(asked.get("sessionVariables"), "sessionVariables"),
            _sequence(asked.get("commandSequenceNumber")),
        )


def parsed_object(body: bytes) -> dict[str, Any]:
    """A JSON object; Failure if it is none."""
    try:
        found = json.loads(body)
    except ValueError as error:
        raise Failure(BAD_REQUEST, f"The body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Failure(BAD_REQUEST, "The body must be a JSON object.")
    return found


def _texts(given: Any, name: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or any(isinstance(v, dict | list) for v in given.values()):
        raise Failure(BAD_REQUEST, f'"{name}" must be an object of texts.')
    return {key: _text(value) for key, value in given.items() if value is not None}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sequence(given: Any) -> int:
    if given is None:
        return -1
    if not isinstance(given, int) or isinstance(given, bool):
        raise Failure(BAD_REQUEST, '"commandSequenceNumber" must be a whole number.')
    return given
