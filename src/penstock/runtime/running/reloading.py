"""``config.action.reload``: restarts connectors when a file changes that their config refers to."""

from __future__ import annotations

import time
from collections.abc import Mapping

from penstock.config.providers import modified
from penstock.config.references import Providers

PAUSE_SECONDS = 1.0
"""Seconds between two checks of the files: looks at an idle connector are more frequent."""


class ReloadWatch:
    """The files behind a config's references. Belongs to one runner."""

    def __init__(self, providers: Providers, config: Mapping[str, str]) -> None:
        self._providers = providers
        self._config = config
        restarts = config.get("config.action.reload", "restart").strip() == "restart"
        self.active = restarts and bool(providers.files(config))
        """Whether there is anything to watch."""
        self.begin()

    def begin(self) -> None:
        """Note changes from now on. Call this before the files are read."""
        self._seen = self._marks()
        self._due = time.monotonic() + PAUSE_SECONDS

    def changed(self) -> bool:
        """Whether a file has changed; checks at most once a second."""
        if not self.active or time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + PAUSE_SECONDS
        return self._marks() != self._seen

    def _marks(self) -> Mapping[str, object]:
        # With links resolved: Kubernetes renews a secret by replacing a link.
        return modified(self._providers.files(self._config)) if self.active else {}
