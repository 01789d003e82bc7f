"""Results kept from run to run, so that one row can be measured again without the others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.report import Stored
from bench.results import RowResult
from bench.row import Row


def read(folder: Path, machine: Mapping[str, str]) -> Stored:
    """What earlier runs found; nothing where they ran on another machine or other versions."""
    try:
        stored: Stored = json.loads((folder / "results.json").read_text())
    except (OSError, ValueError):
        stored = {}
    if stored.get("machine") != machine:
        return {"machine": dict(machine), "rows": {}}
    return stored


def with_row(stored: Stored, row: Row, result: RowResult, every: Sequence[str]) -> Stored:
    """The same with a new result of a row; rows are in the order of ``every``."""
    moment = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    told = {"title": row.title, "measured": moment, **result.as_json()}
    rows = {**stored["rows"], row.name: told}
    return {**stored, "rows": {name: rows[name] for name in every if name in rows}}
