"""What the worker's config lets a connector's config do."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.engine.references import Providers
from penstock.runtime.override_policy import OverridePolicy


@dataclass(frozen=True)
class Rules:
    """Set by whoever runs the worker, and by nobody else."""

    providers: Providers = field(default_factory=Providers)
    overrides: OverridePolicy = field(default_factory=OverridePolicy)
