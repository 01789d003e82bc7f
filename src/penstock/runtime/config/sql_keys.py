"""The worker's keys that are about SQL."""

from __future__ import annotations

from dataclasses import replace

from penstock.registry.settings import REGISTRY_KEYS
from penstock.sdk.config import ConfigKey
from penstock.sdk.config_validators import non_empty

PREFIX = "sql."

SQL_KEYS = (
    ConfigKey(
        f"{PREFIX}state.dir",
        default=None,
        validator=non_empty,
        doc="Folder on the executors in which persistent queries keep the tables they are joined "
        "with. Unset: in the cache of the worker's user.",
    ),
    *(
        replace(
            key,
            name=f"{PREFIX}{key.name}",
            default=None if key.required else key.default,
            doc=f"For formats of SQL with a schema registry. {key.doc}",
        )
        for key in REGISTRY_KEYS
    ),
)
"""Those of the registry are the keys that converters have, with a prefix."""
