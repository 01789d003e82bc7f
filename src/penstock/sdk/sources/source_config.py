"""The configuration of a source task, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least
from penstock.sdk.errors import ConfigError

MAX_POLL_RECORDS: Final = "max.poll.records"

COMMON_SOURCE_CONFIG: Final = ConfigDef(
    ConfigKey(
        MAX_POLL_RECORDS,
        Type.INT,
        default=500,
        validator=at_least(1),
        importance=Importance.MEDIUM,
        doc="The most records that a task hands on at a time, where it makes them one by one.",
    ),
)
"""What every task of ``AbstractSourceTask`` understands: add it to your connector's ConfigDef."""


class SourceCommonConfig:
    """Typed values of ``config_def`` and of the common keys, from the texts in ``props``.

    ConfigError names every key that is missing or invalid, not only the first.
    """

    def __init__(self, config_def: ConfigDef, props: Mapping[str, str]) -> None:
        definition = COMMON_SOURCE_CONFIG + config_def
        wrong = [(found.name, found.errors) for found in definition.validate(props) if found.errors]
        if wrong:
            texts = [_named(name, error) for name, errors in wrong for error in errors]
            raise ConfigError(" ".join(texts), key=wrong[0][0] if len(wrong) == 1 else None)
        self.values: dict[str, Any] = definition.parse(props)
        self.props = dict(props)
        """The texts, as the task got them."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    @property
    def max_poll_records(self) -> int:
        """The most records to hand on at a time."""
        return int(self.values[MAX_POLL_RECORDS])


def _named(name: str, error: str) -> str:
    text = error if name in error else f"{name}: {error}"
    return text if text.endswith(".") else f"{text}."
