"""While Spark starts, the log says so."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.engine.driver.session import LazySession, SparkSettings


def test_a_start_is_told_and_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    session = LazySession(SparkSettings(tmp_path))
    seen: list[bool] = []

    def start(_: LazySession) -> Mock:
        seen.append(session.starting)
        return Mock()

    monkeypatch.setattr(LazySession, "_start", start)
    session.get()
    assert (seen, session.starting) == ([True], False)
    first, second = [record.getMessage() for record in caplog.records]
    assert first.startswith("starting Spark")
    assert second.startswith("Spark is ready after")


def test_a_start_that_fails_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = LazySession(SparkSettings(tmp_path))
    monkeypatch.setattr(LazySession, "_start", Mock(side_effect=OSError("no Java")))
    with pytest.raises(OSError, match="no Java"):
        session.get()
    assert not session.starting
