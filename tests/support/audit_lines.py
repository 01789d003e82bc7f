"""The audit, as a test reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest


def audit_lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Every line so far; the log must be at INFO."""
    records = [record for record in caplog.records if record.name == "penstock.audit"]
    return [json.loads(record.getMessage()) for record in records]
