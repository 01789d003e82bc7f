"""``transaction.boundary``: when a source's records and offsets are committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.engine.lease.lease import Limits
from penstock.runtime.config.connector_config import SOURCE

BOUNDARY, INTERVAL = "transaction.boundary", "transaction.boundary.interval.ms"
LONGEST_SECONDS = 30.0
"""Half of the transaction timeout: the work of a transaction that times out is lost."""
NOT_DEFINED = (
    "The connector does not support connector-defined transaction boundaries with the given "
    "configuration. Please reconfigure it to use a different transaction boundary definition."
)


def boundary_errors(config: Mapping[str, str]) -> list[tuple[str, str]]:
    """Errors by key: no connector here defines where transactions end."""
    return [(BOUNDARY, NOT_DEFINED)] if _boundary(config) == "connector" else []


def with_boundary(limits: Limits, config: Mapping[str, str], flush_interval_ms: int) -> Limits:
    """``limits`` as a source's config sets them; by default it commits as soon as it can.

    ``flush_interval_ms`` is the interval of sources that use one but do not set it.
    """
    if _boundary(config) != "interval":
        return limits
    given = SOURCE[INTERVAL].read(config)
    seconds = (flush_interval_ms if given is None else given) / 1000
    return replace(limits, transaction_seconds=min(seconds, LONGEST_SECONDS), commit_when_dry=False)


def _boundary(config: Mapping[str, str]) -> str:
    return config.get(BOUNDARY, "").strip().lower()
