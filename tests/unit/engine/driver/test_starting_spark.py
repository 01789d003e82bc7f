"""While Spark starts, the log says so."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from penstock.engine.driver.session import Application, LazySession, SparkSettings


def test_a_start_is_told_and_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    session = LazySession(SparkSettings(tmp_path))
    seen: list[bool] = []

    def start(_: LazySession) -> Mock:
        seen.append(session.starting)
        context = Mock(applicationId="local-1", uiWebUrl="http://127.0.0.1:4040")
        return Mock(sparkContext=context)

    monkeypatch.setattr(LazySession, "_start", start)
    session.get()
    assert (seen, session.starting) == ([True], False)
    assert session.application == Application("local-1", "http://127.0.0.1:4040")
    first, second, third = [record.getMessage() for record in caplog.records]
    assert first.startswith("starting Spark")
    assert second.startswith("Spark is ready after")
    assert third == "Spark's web UI is at http://127.0.0.1:4040"


def test_a_start_that_fails_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = LazySession(SparkSettings(tmp_path))
    monkeypatch.setattr(LazySession, "_start", Mock(side_effect=OSError("no Java")))
    with pytest.raises(OSError, match="no Java"):
        session.get()
    assert not session.starting
