"""Resolves the references in all settings of a lease, just before its task starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from penstock.engine.lease.lease import Lease
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.client_settings import client_settings
from penstock.kafka.clients import secret_values
from penstock.logs.secrets import hide_also

L = TypeVar("L", bound=Lease)


class _Finding:
    """Resolves references, and hides the values from then on: an error may occur at any time."""

    def __init__(self, lease: Lease) -> None:
        self._connector = lease.connector
        self._providers = lease.providers
        self.secrets = lease.secrets

    def resolve(self, config: Mapping[str, str]) -> dict[str, str]:
        found = self._providers.resolve(config)
        self.hide(found.secrets)
        return found.config

    def hide(self, secrets: Iterable[str]) -> None:
        self.secrets += tuple(secrets)
        hide_also(self.secrets, self._connector)


def resolved(lease: L) -> L:
    """The lease as its task sees it; from now on this process hides the resolved values.

    ConfigError if a provider cannot read a value, or if a value is invalid.
    """
    finding = _Finding(lease)
    config, overrides = finding.resolve(lease.config), finding.resolve(lease.overrides)
    finding.hide(secret_values(overrides))
    recipe = lease.pipeline
    pipeline = recipe.pipeline(finding.resolve) if isinstance(recipe, Recipe) else recipe
    return replace(
        lease,
        config=config,
        pipeline=pipeline,
        secrets=finding.secrets,
        producer_settings={**lease.producer_settings, **_chosen("producer", overrides)},
        consumer_settings={**lease.consumer_settings, **_chosen("consumer", overrides)},
        admin_settings={**lease.admin_settings, **_chosen("admin", overrides)},
    )


def _chosen(kind: str, overrides: Mapping[str, str]) -> dict[str, Any]:
    prefix = f"{kind}.override."
    return client_settings(
        {k.removeprefix(prefix): v for k, v in overrides.items() if k.startswith(prefix)}
    )
