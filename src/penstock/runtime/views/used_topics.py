"""The topics that a connector has used, if the worker tracks them."""

from __future__ import annotations

from typing import Any

from penstock.runtime.errors import Forbidden
from penstock.runtime.running.context import Context


class UsedTopics:
    """Answered from memory. Thread-safe."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def topics(self, name: str) -> dict[str, Any]:
        """The topics that the connector has used; Forbidden if they are not tracked."""
        self._require("topic.tracking.enable", "Topic tracking is disabled.")
        return {name: {"topics": self._context.statuses.topics(name)}}

    def reset(self, name: str) -> None:
        """Forget the topics that the connector has used; Forbidden if that is disabled."""
        self._require("topic.tracking.enable", "Topic tracking is disabled.")
        self._require("topic.tracking.allow.reset", "Topic tracking reset is disabled.")
        self._context.statuses.forget_topics(name)

    def _require(self, switch: str, refusal: str) -> None:
        if not self._context.worker[switch]:
            raise Forbidden(refusal)
