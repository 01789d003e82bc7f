"""A check that raises, as the answer of ``Connector.validate``."""

from __future__ import annotations

from collections.abc import Callable

from penstock.sdk.errors import ConfigError


def objections(check: Callable[[], object], key: str) -> list[tuple[str, str]]:
    """The ConfigError that ``check`` raises, as (key, message); ``key`` if it names none."""
    try:
        check()
    except ConfigError as error:
        return [(error.key or key, str(error))]
    return []
