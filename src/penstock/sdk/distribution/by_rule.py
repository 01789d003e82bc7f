"""Strategies that look at an object's name and at nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.distribution.name_template import FILE_NAME_TEMPLATE, NameTemplate
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy, checksum
from penstock.sdk.errors import ConfigError


class ObjectHash(ObjectDistributionStrategy):
    """Spreads objects evenly by a hash of their names."""

    def number_of(self, name: str) -> int:
        """A checksum."""
        return checksum(name)


class PartitionInName(ObjectDistributionStrategy):
    """All objects of a partition go to one task: the partition stands in the name or the path.

    An object whose name does not match the template is read by no task.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            FILE_NAME_TEMPLATE,
            importance=Importance.HIGH,
            doc="What the names of objects look like, with {{partition}} where the partition is.",
        )
    )

    def configure(self, config: Mapping[str, str]) -> None:
        """ConfigError unless the template has a partition."""
        super().configure(config)
        self._template = NameTemplate(self.settings[FILE_NAME_TEMPLATE])
        if "partition" not in self._template.variables:
            raise ConfigError(
                f"To distribute objects by partition, {FILE_NAME_TEMPLATE} must have "
                "{{partition}} in it.",
                key=FILE_NAME_TEMPLATE,
            )

    def number_of(self, name: str) -> int | None:
        """The partition."""
        said = self._template.match(name)
        return None if said is None else said.partition
