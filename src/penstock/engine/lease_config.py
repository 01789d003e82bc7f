"""The last moment: a lease's config and client settings, with what references in them name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from penstock.engine.lease import Lease
from penstock.kafka.client_settings import client_settings
from penstock.kafka.clients import secret_values
from penstock.logs.secrets import hide

L = TypeVar("L", bound=Lease)


def resolved(lease: L) -> L:
    """The lease as its task is to see it; from now on this process hides what was found.

    ConfigError if a provider cannot read what is there.
    """
    found = lease.providers.resolve(lease.config)
    overrides = lease.providers.resolve(lease.overrides)
    hidden = (*found.secrets, *overrides.secrets, *secret_values(overrides.config))
    secrets = (*lease.secrets, *hidden)
    hide(secrets, lease.connector)
    return replace(
        lease,
        config=found.config,
        secrets=secrets,
        producer_settings={**lease.producer_settings, **_chosen("producer", overrides.config)},
        consumer_settings={**lease.consumer_settings, **_chosen("consumer", overrides.config)},
        admin_settings={**lease.admin_settings, **_chosen("admin", overrides.config)},
    )


def _chosen(kind: str, overrides: Mapping[str, str]) -> dict[str, Any]:
    prefix = f"{kind}.override."
    return client_settings(
        {k.removeprefix(prefix): v for k, v in overrides.items() if k.startswith(prefix)}
    )
