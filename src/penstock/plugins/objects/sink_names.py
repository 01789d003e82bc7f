"""Names of objects, from Aiven's templates."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final
from zoneinfo import ZoneInfo

from penstock.sdk.errors import ConfigError

_VARIABLE: Final = re.compile(r"\{\{\s*(\w+)\s*(?::\s*(\w+)\s*=\s*(\w+)\s*)?\}\}")
_NEEDED: Final = ("topic", "partition", "start_offset")
_UNITS: Final = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H"}
_DIGITS: Final = {"partition": 10, "start_offset": 20}


class ObjectName:
    """A template, checked: ConfigError says what is wrong with it."""

    def __init__(self, template: str, timezone: str = "Z") -> None:
        self._template = template
        self._zone = _zone(timezone)
        found = [match.groups() for match in _VARIABLE.finditer(template)]
        if "{{" in _VARIABLE.sub("", template):
            raise _invalid(template, "a variable is not closed, or not written as {{name}}")
        for name, option, value in found:
            _check(template, name, option, value)
        names = {name for name, _, _ in found}
        self.keyed = "key" in names
        """Whether each key has objects of its own."""
        self.latest = self.keyed and not names & {"start_offset", "timestamp"}
        """Whether the object of a key is replaced by that of its next record."""
        missing = [] if self.latest else [name for name in _NEEDED if name not in names]
        if missing:
            texts = ", ".join("{{" + name + "}}" for name in missing)
            raise _invalid(template, f"without {texts} objects would replace each other")
        if "//" in template or template.endswith("/"):
            raise _invalid(template, "a part between two slashes, or after the last, is empty")

    def __str__(self) -> str:
        return f"{self._template} {self._zone}"

    def render(
        self, topic: str, partition: int, start_offset: int, time: int, key: str = ""
    ) -> str:
        """The name of the object that begins at ``start_offset``; ``time`` in milliseconds.

        ``key`` is as ``keys_in_names`` makes it.
        """
        values = {"topic": topic, "partition": str(partition), "start_offset": str(start_offset)}
        values["key"] = key
        moment = dt.datetime.fromtimestamp(time / 1000, self._zone)

        def text(match: re.Match[str]) -> str:
            name, option, value = match.groups()
            if name == "timestamp":
                return moment.strftime(_UNITS[value]) if option else str(time)
            return values[name].zfill(_DIGITS.get(name, 0) if value == "true" else 0)

        return _VARIABLE.sub(text, self._template)


def _check(template: str, name: str, option: str | None, value: str | None) -> None:
    if name not in (*_NEEDED, "timestamp", "key"):
        raise _invalid(template, f"there is no variable {name}")
    padding = name in _DIGITS and option == "padding" and value in ("true", "false")
    unit = name == "timestamp" and option == "unit" and value in _UNITS
    if option is not None and not padding and not unit:
        raise _invalid(template, f"{option}={value} does not go with {name}")


def _zone(text: str) -> dt.tzinfo:
    if text in ("Z", "UTC"):
        return dt.UTC
    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        key = "file.name.timestamp.timezone"
        raise ConfigError(f"there is no time zone {text}", key=key) from None


def _invalid(template: str, why: str) -> ConfigError:
    return ConfigError(f"{template} cannot name objects: {why}", key="file.name.template")
