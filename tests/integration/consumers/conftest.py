"""Commands on the broker of this run."""

from __future__ import annotations

import pytest

from commands import Commands
from penstock.embedded import EmbeddedBroker


@pytest.fixture
def penstock(
    broker: EmbeddedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Commands:
    return Commands(broker.bootstrap_servers, monkeypatch, lambda: tuple(capsysbinary.readouterr()))
