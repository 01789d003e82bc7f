"""Removes the values of config providers from validation's answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.config.references import Providers, Resolved
from penstock.logs.secrets import scrub
from penstock.runtime.errors import BadRequest
from penstock.sdk.config import ConfigValue
from penstock.sdk.errors import ConfigError

REDACTED = (
    "Invalid value for configuration '{key}': the value resolved from the config provider "
    "reference failed validation"
)


def resolved_to_validate(providers: Providers, config: Mapping[str, str]) -> Resolved:
    """``config`` with its references resolved; BadRequest if they cannot be read."""
    try:
        return providers.resolve(config)
    except ConfigError as error:
        raise BadRequest(str(error)) from error


def redacted(
    values: list[ConfigValue], sent: Mapping[str, str], found: Resolved
) -> list[ConfigValue]:
    """The references as they were sent, and errors that do not reveal their values."""
    return [_redacted(value, sent.get(value.name, ""), found) for value in values]


def _redacted(value: ConfigValue, sent: str, found: Resolved) -> ConfigValue:
    if any(reference in sent for reference in found.found):
        errors = [REDACTED.format(key=value.name) for _ in value.errors]
        return replace(value, value=sent, errors=errors)
    if not value.errors:
        return value
    return replace(value, errors=[scrub(error, found.secrets) for error in value.errors])
