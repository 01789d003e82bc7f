"""Names of objects that say something about their records: ``{{topic}}-{{partition}}-…``."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

from penstock.sdk.config import invalid_value
from penstock.sdk.errors import ConfigError
from penstock.sdk.objects import ObjectContext

FILE_NAME_TEMPLATE: Final = "file.name.template"
MOST_PARTITIONS: Final = 1 << 31

_VARIABLE: Final = re.compile(r"\{\{\s*(\w*)\s*(?::\s*([^{}]*?)\s*)?\}\}")
_PATTERNS: Final = {
    "topic": r"[a-zA-Z0-9._-]+",
    "partition": r"\d+",
    "start_offset": r"\d+",
    "timestamp": r"\d+",
    "key": r".+",
}
_PADDED: Final = ("padding=true", "padding=false")
_UNITS: Final = {"yyyy": r"\d{4}", "MM": r"\d{2}", "dd": r"\d{2}", "HH": r"\d{2}"}
_FIRST: Final = {"yyyy": 1970, "MM": 1, "dd": 1, "HH": 0}


class NameTemplate:
    """A template with {{topic}}, {{partition}}, {{start_offset}}, {{timestamp}} and {{key}}.

    What stands around the variables is a regular expression. A name matches as a whole: with a
    ``/`` in the template the whole name of the object, otherwise what is behind its last ``/``. A
    variable that is there twice has the same value in both places. ``{{partition:padding=true}}``
    and ``{{timestamp:unit=yyyy}}`` (MM, dd, HH) are understood as sinks write them.
    """

    def __init__(self, template: str) -> None:
        self.variables: set[str] = set()
        self._groups: set[str] = set()
        self._whole_path = "/" in template
        pattern = _VARIABLE.sub(self._group, template)
        if "{{" in pattern:
            raise _invalid(template, "a variable is not closed, or is not one of " + _known())
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise _invalid(template, f"it is not a regular expression: {error}") from None

    def match(self, name: str) -> ObjectContext | None:
        """What the name of an object says; None if it does not match."""
        shown = name if self._whole_path else name.rpartition("/")[2]
        found = self._pattern.fullmatch(shown)
        if found is None:
            return None
        said = {key: text for key, text in found.groupdict().items() if key in self._groups}
        try:
            return ObjectContext(
                name,
                said.get("topic"),
                _number(said.get("partition"), MOST_PARTITIONS),
                _number(said.get("start_offset"), 1 << 63),
                _timestamp(said),
                said.get("key"),
            )
        except ValueError:
            return None

    def _group(self, match: re.Match[str]) -> str:
        variable, parameter = match[1], match[2]
        if variable not in _PATTERNS:
            raise _invalid(match[0], f"a variable must be one of {_known()}")
        pattern, group = _parameter(match[0], variable, parameter)
        self.variables.add(variable)
        if group in self._groups:
            return f"(?P={group})"
        self._groups.add(group)
        return f"(?P<{group}>{pattern})"


def _parameter(text: str, variable: str, parameter: str | None) -> tuple[str, str]:
    """The pattern of a variable, and the name of its group."""
    if parameter is None:
        return _PATTERNS[variable], variable
    if variable in ("partition", "start_offset") and parameter in _PADDED:
        return _PATTERNS[variable], variable
    unit = parameter.removeprefix("unit=")
    if variable == "timestamp" and unit != parameter and unit in _UNITS:
        return _UNITS[unit], f"timestamp_{unit}"
    raise _invalid(text, f"{variable} has no parameter {parameter}")


def _number(text: str | None, limit: int) -> int | None:
    if text is None:
        return None
    number = int(text)
    if number >= limit:
        raise ValueError(text)
    return number


def _timestamp(said: dict[str, Any]) -> int | None:
    if "timestamp" in said:
        return _number(said["timestamp"], 1 << 63)
    parts = [int(said.get(f"timestamp_{unit}", first)) for unit, first in _FIRST.items()]
    if not any(key.startswith("timestamp_") for key in said):
        return None
    return int(dt.datetime(*parts, tzinfo=dt.UTC).timestamp() * 1000)  # type: ignore[arg-type,misc]  # four numbers


def _known() -> str:
    return ", ".join(_PATTERNS)


def _invalid(value: str, why: str) -> ConfigError:
    return invalid_value(FILE_NAME_TEMPLATE, value, why)
