"""Java properties files: the format of a worker's config, and of files that hold secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.sdk.errors import ConfigError

ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
# The key ends at the first =, : or blank that is not escaped by a backslash.
ENTRY = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)
ESCAPE = re.compile(r"\\(u(?P<hex>[0-9a-fA-F]{4})|.)", re.DOTALL)


def parse_properties(text: str, source: str) -> dict[str, str]:
    """The entries of a text; a later entry replaces an earlier one of the same key."""
    entries: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key, value = _entry(line, f"{source}, line {number}")
        entries[key] = value
    return entries


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations joined, and the number of each one's first line."""
    begun, parts = 0, ""
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        stripped = line.lstrip(" \t\f")
        if not begun and (not stripped or stripped[0] in "#!"):
            continue
        begun = begun or number
        if _continues(stripped):
            parts += stripped[:-1]
            continue
        yield begun, parts + stripped
        begun, parts = 0, ""
    if parts:
        yield begun, parts


def _continues(line: str) -> bool:
    backslashes = len(line) - len(line.rstrip("\\"))
    return backslashes % 2 == 1


def _entry(line: str, where: str) -> tuple[str, str]:
    match = ENTRY.fullmatch(line)
    key, value = match.groups() if match else ("", "")
    if not key:
        raise ConfigError(f"{where}: no key before the value in '{line}'; write key=value")
    # Java reads such a line as a key with an empty value, which only hides a mistake.
    if "=" not in line and ":" not in line and not value:
        raise ConfigError(f"{where}: no value in '{line}'; write key=value")
    return _unescape(key, where), _unescape(value, where)


def _unescape(text: str, where: str) -> str:
    def plain(match: re.Match[str]) -> str:
        if match["hex"]:
            return chr(int(match["hex"], 16))
        if match[1] == "u":
            raise ConfigError(f"{where}: \\u needs four hexadecimal digits after it")
        return ESCAPES.get(match[1], match[1])

    return ESCAPE.sub(plain, text)
