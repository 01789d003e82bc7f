"""The limits with which carriers are started."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from penstock.engine.carriers import process as process_module
from penstock.engine.driver import engine as engine_module
from penstock.engine.driver.engine import Engine
from penstock.engine.driver.session import LazySession, SparkSettings

HALF = psutil.virtual_memory().total // 2


@pytest.mark.parametrize(("given", "used"), [(None, HALF), (0, 0), (5 << 30, 5 << 30)])
def test_the_limit_reaches_the_carrier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: int | None, used: int
) -> None:
    """The usual one is that of the machine where the carrier runs, which may be another."""
    monkeypatch.setattr(process_module, "usual_memory", lambda: HALF)
    jobs: list[Any] = []
    monkeypatch.setattr(engine_module, "CarrierJob", lambda *args: jobs.append(args))
    engine = Engine(LazySession(SparkSettings(tmp_path)), carrier_bytes=given, brokers=3)
    try:
        engine._launch(Mock(carrier="c", secret="s"), "shared carrier 1", Mock())
    finally:
        engine.stop()
    [(_, summons, _, _)] = jobs
    assert summons.most_bytes == given
    assert summons.memory_limit == used
    assert summons.brokers == 3
