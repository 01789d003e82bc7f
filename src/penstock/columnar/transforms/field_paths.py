"""The way to a field: its name or, with ``field.syntax.version=V2``, names joined by dots."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.structs import Part, parts
from penstock.sdk.config import ConfigKey, Importance
from penstock.sdk.config_validators import one_of_ignoring_case
from penstock.sdk.errors import ConfigError

SYNTAX_VERSION = ConfigKey(
    "field.syntax.version",
    default="V1",
    validator=one_of_ignoring_case("V1", "V2"),
    importance=Importance.HIGH,
    doc="Defines the version of the syntax to access fields. If set to V1, then the field paths "
    "are limited to access the elements at the root level of the struct or map. If set to V2, the "
    "syntax will support accessing nested elements. To access nested elements, dotted notation is "
    "used. If dots are already included in the field name, then backtick pairs can be used to wrap "
    "field names containing dots.",
)
_PURPOSE = "nested field access"


class FieldPath:
    """Names from the outermost struct or map to the field that is meant."""

    def __init__(self, text: str, version: str) -> None:
        self.text = text
        self.steps = [text] if version.upper() == "V1" else _steps(text)

    def part(self, array: pa.Array, purpose: str, *, replace_null: bool) -> Part:
        """The field in a struct column; ``Misfit`` if there is none."""
        found: Part | None = None
        for depth, step in enumerate(self.steps):
            inside = parts(array, _PURPOSE if depth else purpose, replace_null=replace_null)
            found = next((each for each in inside if each.name == step), None)
            if found is None:
                break
            array = found.array
        if found is None:
            raise Misfit(f"Unknown field: {self.text}")
        return found

    def value(self, value: dict[str, Any]) -> Any:
        """The field in a map; None if it is not there."""
        current: Any = value
        for depth, step in enumerate(self.steps):
            if current is None:
                return None
            current = (required_map(current, _PURPOSE) if depth else current).get(step)
        return current


def _steps(path: str) -> list[str]:
    """Dots part the names; a name in backticks may have dots, and backticks after a backslash."""
    steps: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`":
            name, at = _quoted(path, at)
        else:
            end = path.find(".", at)
            name, at = (path[at:], len(path)) if end < 0 else (path[at:end], end + 1)
        steps.append(name)
    return [*steps, ""] if path.endswith(".") else steps


def _quoted(path: str, opening: int) -> tuple[str, int]:
    """The name in backticks that begins here, and where the next one begins."""
    name, start, at = "", opening + 1, opening + 1
    while (at := path.find("`", at)) >= 0:
        escaped, last = path[at - 1] == "\\", at == len(path) - 1
        if last and not escaped:
            return name + path[start:at], at + 1
        if not last and path[at + 1] == ".":
            if not escaped:
                return name + path[start:at], at + 2
            name, start = name + path[start : at - 1] + "`", at + 1
        at += 1
    raise ConfigError(
        f"Incomplete backtick pair in path: [{path}], consider adding a backslash before backtick "
        f"at position {opening} to escape it"
    )
