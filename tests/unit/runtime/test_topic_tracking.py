"""Whether the topics that connectors use are noted: what the herder says if not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.runtime.errors import Forbidden
from penstock.runtime.herder import Herder
from penstock.runtime.plugins import Plugins


def herder(*, enable: bool, reset: bool) -> Any:
    made: Any = Herder(Plugins(), "cluster")
    switches = {"topic.tracking.enable": enable, "topic.tracking.allow.reset": reset}
    made._context = SimpleNamespace(worker=switches, statuses=Mock())
    return made


def test_not_noted_at_all() -> None:
    off = herder(enable=False, reset=True)
    for call in (off.topics, off.reset_topics):
        with pytest.raises(Forbidden, match=r"^Topic tracking is disabled\.$"):
            call("n")


def test_noted_and_never_forgotten() -> None:
    kept = herder(enable=True, reset=False)
    kept._context.statuses.topics.return_value = ["t"]
    assert kept.topics("n") == {"n": {"topics": ["t"]}}
    with pytest.raises(Forbidden, match=r"^Topic tracking reset is disabled\.$"):
        kept.reset_topics("n")
    kept._context.statuses.forget_topics.assert_not_called()
