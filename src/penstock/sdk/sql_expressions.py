"""Expressions of Spark SQL in a configuration: over one record, and nothing beyond it.

What can be found without Spark is reported when the configuration is checked; the rest when Spark
analyses the expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from penstock.sdk.errors import ConfigError

BEYOND: Final = re.compile(r"(?i)\b(reflect|try_reflect|java_method|select|table|values)\b")
"""Words with which an expression calls Java, or reads other tables and files."""
GENERATORS: Final = re.compile(
    r"(?i)\b(explode|explode_outer|posexplode|posexplode_outer|inline|inline_outer|stack|json_tuple"
    r"|variant_explode|variant_explode_outer)\s*\("
)
"""Functions that make several rows of one."""
AGGREGATES: Final = re.compile(
    r"(?i)\b(sum|count|avg|mean|min|max|collect_list|collect_set|array_agg|first_value|last_value"
    r"|approx_count_distinct|stddev|variance|percentile|median|count_if|bool_and|bool_or)\s*\("
)
"""The commonest functions that make one row of several; Spark knows the others."""
WINDOW: Final = re.compile(r"(?i)\)\s*over\s*[(\w]")
PIECES: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|.", re.DOTALL
)
"""A text, a quoted name, a comment, or a single character."""
PAIRS: Final = {")": "(", "]": "["}


def expressions(key: str, text: str) -> list[str]:
    """The expressions in ``text``, with semicolons between; ConfigError if one may not be used."""
    if found := BEYOND.search(_without_literals(text)):
        raise ConfigError(
            f"{key} may not use {found[0]}: its expressions read the record, and nothing else",
            key=key,
        )
    return [part.strip() for part in _parts(text) if part.strip()]


def row_expressions(key: str, text: str) -> list[str]:
    """As ``expressions``, which also make exactly one row of one."""
    found = expressions(key, text)
    plain = _without_literals(text)
    _refuse_unbalanced(key, text)
    for pattern, why in ((GENERATORS, "makes several rows of one"), (WINDOW, "looks at many rows")):
        if hit := pattern.search(plain):
            raise ConfigError(f"{key}: {hit[0].strip(' (')} {why}: one record stays one", key=key)
    if hit := AGGREGATES.search(plain):
        name = hit[1]
        raise ConfigError(
            f"{key}: {name} is an aggregate, which makes one row of many: one record stays one",
            key=key,
        )
    return found


def row_expression(key: str, text: str) -> str:
    """The only expression in ``text``, or none; as ``row_expressions``."""
    found = row_expressions(key, text)
    if len(found) > 1:
        raise ConfigError(f"{key} is one expression: connect conditions with AND", key=key)
    return found[0] if found else ""


def checked_rows(name: str, value: Any) -> None:
    """A validator of ``ConfigKey``: expressions that make one row of one."""
    row_expressions(name, value or "")


def checked_row(name: str, value: Any) -> None:
    """A validator of ``ConfigKey``: one such expression, or none."""
    row_expression(name, value or "")


def _without_literals(text: str) -> str:
    return "".join("''" if piece[0] in "'\"" else piece for piece in PIECES.findall(text))


def _parts(text: str) -> Iterator[str]:
    part = ""
    for piece in PIECES.findall(text):
        if piece == ";":
            yield part
            part = ""
        else:
            part += piece
    yield part


def _refuse_unbalanced(key: str, text: str) -> None:
    opened: list[str] = []
    for piece in PIECES.findall(text):
        if piece in "([":
            opened.append(piece)
        elif piece in PAIRS and (not opened or opened.pop() != PAIRS[piece]):
            raise ConfigError(f"{key}: there is a {piece} too many", key=key)
        elif piece in "'\"`":
            raise ConfigError(f"{key}: a {piece} is not closed", key=key)
    if opened:
        raise ConfigError(f"{key}: a {opened[-1]} is not closed", key=key)
