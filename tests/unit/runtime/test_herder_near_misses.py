"""A key that was probably mistyped is named in the log; the connector is created all the same."""

from __future__ import annotations

import pytest

from penstock.runtime.herder import Herder
from penstock.runtime.plugins import Plugins


def test_a_near_miss_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    herder = Herder(Plugins(), "g")
    config = {
        "name": "n",
        "connector.class": "FileStreamSource",
        "file": "/tmp/in.txt",  # noqa: S108 (never opened)
        "topic": "t",
        "task.max": "2",
        "owner": "me",
    }
    herder._refuse_invalid("n", config)
    assert [record.getMessage() for record in caplog.records] == [
        "task.max is not a known key and is ignored: did you mean tasks.max?"
    ]
