"""Whether the topics that connectors use are noted: what is said if not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.runtime.errors import Forbidden
from penstock.runtime.views.used_topics import UsedTopics


def used(*, enable: bool, reset: bool, statuses: Mock) -> UsedTopics:
    switches = {"topic.tracking.enable": enable, "topic.tracking.allow.reset": reset}
    context: Any = SimpleNamespace(worker=switches, statuses=statuses)
    return UsedTopics(context)


def test_not_noted_at_all() -> None:
    off = used(enable=False, reset=True, statuses=Mock())
    for call in (off.topics, off.reset):
        with pytest.raises(Forbidden, match=r"^Topic tracking is disabled\.$"):
            call("n")


def test_noted_and_never_forgotten() -> None:
    statuses = Mock()
    statuses.topics.return_value = ["t"]
    kept = used(enable=True, reset=False, statuses=statuses)
    assert kept.topics("n") == {"n": {"topics": ["t"]}}
    with pytest.raises(Forbidden, match=r"^Topic tracking reset is disabled\.$"):
        kept.reset("n")
    statuses.forget_topics.assert_not_called()
