"""Strategies by name: ours are found by entry points exactly as a third party's are."""

from __future__ import annotations

from penstock.sdk.distribution.strategy import ObjectDistributionStrategy
from penstock.sdk.named_plugins import load_named, names_in

GROUP = "penstock.distributions"


def distribution_names() -> list[str]:
    """What ``distribution.type`` may say."""
    return names_in(GROUP)


def distribution_class(name: str) -> type[ObjectDistributionStrategy]:
    """The strategy called ``name``; ConfigError lists those there are."""
    return load_named(GROUP, name, ObjectDistributionStrategy, "distribution type")  # type: ignore[type-abstract]  # no instance is made
