"""``config.action.reload``: connectors begin anew when what their config refers to changes."""

from __future__ import annotations

import time
from collections.abc import Mapping

from penstock.engine.config_providers import modified
from penstock.engine.references import Providers

PAUSE_SECONDS = 1.0
"""Between two looks at the files: a look at an idle connector comes much more often."""


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
        """From now on changes count. To be called before the files are read."""
        self._seen = self._marks()
        self._due = time.monotonic() + PAUSE_SECONDS

    def changed(self) -> bool:
        """Whether a file is another than it was; looks at most once a second."""
        if not self.active or time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + PAUSE_SECONDS
        return self._marks() != self._seen

    def _marks(self) -> Mapping[str, object]:
        # By where links lead now: Kubernetes renews a secret by turning a link round.
        return modified(self._providers.files(self._config)) if self.active else {}
