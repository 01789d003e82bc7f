"""The keys of a worker's config that are about automatic restarts."""

from __future__ import annotations

from penstock.sdk.config import ConfigKey, Type
from penstock.sdk.config_validators import at_least

ENABLED, MOST = "auto.restart.enabled", "auto.restart.max.restarts"
AUTO_RESTART_KEYS = (
    ConfigKey(
        ENABLED,
        Type.BOOLEAN,
        default=False,
        doc="Whether failed connectors and tasks are restarted automatically.",
    ),
    ConfigKey(
        MOST,
        Type.INT,
        default=None,
        validator=at_least(0),
        doc="Most automatic restarts of a connector that never stays healthy. Unset: no limit.",
    ),
)
