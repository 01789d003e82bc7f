"""The last moment: a lease's config with the values that its references name."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.engine.lease import Lease
from penstock.logs.secrets import hide

L = TypeVar("L", bound=Lease)


def resolved(lease: L) -> L:
    """The lease as its task is to see it; from now on this process hides what was found.

    ConfigError if a provider cannot read what is there.
    """
    found = lease.providers.resolve(lease.config)
    secrets = (*lease.secrets, *found.secrets)
    hide(secrets, lease.connector)
    return replace(lease, config=found.config, secrets=secrets)
