"""The offsets file of Kafka Connect's standalone mode (``offset.storage.file.filename``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.cli.java_map import NotAMapError, parse_map
from penstock.sdk.errors import UserError

Entry = dict[str, Any]
"""``partition`` and ``offset``, as the REST API has them."""


def read_offsets_file(file: Path) -> dict[str, list[Entry]]:
    """The offsets of each connector, in the file's order; UserError says what is wrong with it."""
    try:
        entries = parse_map(file.read_bytes())
    except OSError as error:
        raise UserError(
            f"Cannot read {file}: {error.strerror}. Give the path of a file that you may read."
        ) from error
    except NotAMapError as error:
        raise UserError(
            f"{file} is not an offsets file of Kafka Connect's standalone mode: {error}. Give the "
            "file that offset.storage.file.filename names in the standalone worker's properties."
        ) from error
    found: dict[str, list[Entry]] = {}
    for key, value in entries.items():
        connector, entry = _entry(key, value, file)
        if entry["offset"] is not None:  # Reset there: nothing that is new here is to forget it.
            found.setdefault(connector, []).append(entry)
    return found


def _entry(key: bytes, value: bytes | None, file: Path) -> tuple[str, Entry]:
    try:
        connector, partition = json.loads(key)
        offset = None if value is None else json.loads(value)
    except (ValueError, TypeError):
        raise UserError(_odd(file, key)) from None
    sound = isinstance(connector, str) and isinstance(partition, dict)
    if not sound or not isinstance(offset, dict | None):
        raise UserError(_odd(file, key))
    return connector, {"partition": partition, "offset": offset}


def _odd(file: Path, key: bytes) -> str:
    shown = key.decode(errors="backslashreplace")[:200]
    return (
        f"{file} holds an entry that is not an offset of a connector: {shown}. Was the file "
        "written with converters of its own? Then set these offsets with `penstock patch offsets`."
    )
