"""Expressions of Spark SQL in a configuration: over the record, and nothing beyond it."""

from __future__ import annotations

import re
from typing import Final

from penstock.sdk.errors import ConfigError

BEYOND: Final = re.compile(r"(?i)\b(reflect|try_reflect|java_method|select|table|values)\b")
"""Words with which an expression calls Java, or reads other tables and files."""


def expressions(key: str, text: str) -> list[str]:
    """The expressions in ``text``, with semicolons between; ConfigError if one may not be used."""
    if found := BEYOND.search(_without_literals(text)):
        raise ConfigError(
            f"{key} may not use {found[0]}: its expressions read the record, and nothing else",
            key=key,
        )
    return [part.strip() for part in text.split(";") if part.strip()]


def _without_literals(text: str) -> str:
    return re.sub(r"'(?:[^'\\]|\\.)*'", "''", text)
