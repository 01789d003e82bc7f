"""A key that was probably mistyped is named in the log; the connector is created all the same."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.runtime.own_answers import OwnAnswers
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.admission import Admission


def test_a_near_miss_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    admission = Admission(OwnAnswers(Plugins(), "g").validation, Mock(), Mock())
    config = {
        "name": "n",
        "connector.class": "FileStreamSource",
        "file": "/tmp/in.txt",  # noqa: S108 (never opened)
        "topic": "t",
        "task.max": "2",
        "owner": "me",
    }
    admission.refuse_invalid("n", config)
    assert [record.getMessage() for record in caplog.records] == [
        "task.max is not a known key and is ignored: did you mean tasks.max?"
    ]
