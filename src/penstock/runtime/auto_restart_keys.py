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
        doc="Whether connectors and tasks that have failed are restarted by themselves.",
    ),
    ConfigKey(
        MOST,
        Type.INT,
        default=None,
        validator=at_least(0),
        doc="How often that is tried for a connector that never stays healthy. Unset: for ever.",
    ),
)
