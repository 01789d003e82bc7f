"""Validation on threads that can be abandoned: a plugin's own checks may hang."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping

from penstock.runtime.callbacks import CallbackHangs, aside
from penstock.runtime.errors import InternalError
from penstock.runtime.validation.validation import Validated, Validator

MOST_LEFT_BEHIND = 4
"""Hanging calls into one plugin, after which it is not called until one returns."""


class GuardedValidator:
    """A validator that always answers. Thread-safe."""

    def __init__(self, validator: Validator) -> None:
        self._validator = validator
        self._lock = threading.Lock()
        self._left: dict[str, list[threading.Event]] = defaultdict(list)

    def validate(self, config: Mapping[str, str | None]) -> Validated:
        """As ``Validator.validate``; InternalError if the plugin does not answer."""
        plugin = (config.get("connector.class") or "").strip()
        what = f"validating a configuration of {plugin}"
        if self._hanging(plugin) >= MOST_LEFT_BEHIND:
            raise InternalError(f"{what}: callback does not return, earlier ones still run")
        returned = threading.Event()
        try:
            return aside(what, self._validator.validate, config, then=returned.set)
        except CallbackHangs as error:
            with self._lock:
                self._left[plugin].append(returned)
            raise InternalError(str(error)) from error

    def _hanging(self, plugin: str) -> int:
        with self._lock:
            left = [call for call in self._left.pop(plugin, []) if not call.is_set()]
            if left:
                self._left[plugin] = left
            return len(left)
