"""JSON that a user gives as a file, on standard input or in an option."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from penstock.sdk.errors import UserError


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file; ``-`` is standard input."""
    if str(file) == "-":
        return parse_object(sys.stdin.read(), "standard input")
    try:
        return parse_object(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise UserError(f"Cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not a text file in UTF-8") from error


def parse_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a text; UserError says ``where`` it is wrong."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{where} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UserError(f"{where} is JSON, but no object: it must be in {{ }}")
    return value
