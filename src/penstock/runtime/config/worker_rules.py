"""What the worker's config lets a connector's config do."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.config.references import Providers
from penstock.runtime.config.override_policy import OverridePolicy


@dataclass(frozen=True)
class Rules:
    """Properties that only the worker's operator can set."""

    providers: Providers = field(default_factory=Providers)
    overrides: OverridePolicy = field(default_factory=OverridePolicy)
