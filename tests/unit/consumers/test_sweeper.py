"""What the sweep tells when it cannot do its work."""

from __future__ import annotations

import logging
from unittest.mock import Mock

import pytest

from penstock.consumers import sweeper
from penstock.consumers.sweeper import Sweeper
from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable


def test_a_trouble_that_stays_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    directory = Mock()
    monkeypatch.setattr(sweeper, "Directory", lambda _: directory)
    one = Sweeper(lambda: Connection("unasked:9092"), lambda: True, 60)
    caplog.set_level(logging.WARNING)
    for trouble in ("denied", "denied", None, "denied"):
        directory.sweep.side_effect = trouble and BrokerUnavailable(trouble)
        directory.sweep.return_value = []
        one._sweep()
    told = [record.getMessage() for record in caplog.records]
    assert told == ["expired consumers were not deleted: denied"] * 2
