"""What a user gives as a file, on standard input or in an option: JSON, mostly."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from penstock.sdk.errors import UserError


def read_json(file: Path) -> Any:
    """The JSON in a file; ``-`` is standard input."""
    if str(file) == "-":
        return parse_json(sys.stdin.read(), "standard input")
    return parse_json(read_text(file), str(file))


def read_text(file: Path) -> str:
    """The text of a file; UserError says why it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"Cannot read {file}: {error.strerror}. Give the path of a file that you may read."
        ) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not a text file in UTF-8: save it as one.") from error


def parse_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object in a text; UserError says ``where`` it is wrong."""
    value = parse_json(text, where)
    if not isinstance(value, dict):
        raise UserError(f"{where} is JSON, but not an object: put it in {{ }}.")
    return value


def parse_json(text: str, where: str) -> Any:
    """The JSON in a text; UserError says ``where`` it is wrong."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{where} is not JSON: {error}. Correct it there.") from error
