"""The schema registry of SQL: what formats with schemas need, told in keys of the worker.

The keys are those of the converters (docs/schema-registry.md), with ``sql.`` before them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.registry.settings import REGISTRY_KEYS, RegistrySettings
from penstock.sdk.config import Type
from penstock.sql.errors import StatementError

if TYPE_CHECKING:
    from penstock.registry.avro_converter import AvroConverter
    from penstock.registry.registry import Registry

PREFIX = "sql."
URL = "schema.registry.url"
KEYS = tuple(f"{PREFIX}{name}" for name in REGISTRY_KEYS.names())
NOT_CONFIGURED = (
    f"The format AVRO needs a schema registry: set {PREFIX}{URL} in the worker's properties, and "
    "for `penstock sql` in the file of --command-config."
)
NOT_INSTALLED = (
    'The format AVRO needs {}, which is not installed: pip install "penstock[avro,registry]"'
)


@dataclass(frozen=True)
class SqlRegistry:
    """How to reach it, if there is one. Picklable; its text shows no secret."""

    config: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys of the converters, without a prefix."""

    @staticmethod
    def of(properties: Mapping[str, str]) -> SqlRegistry:
        """From the properties of a worker, or of a command."""
        given = {key: properties[key] for key in KEYS if key in properties}
        return SqlRegistry({key.removeprefix(PREFIX): value for key, value in given.items()})

    @property
    def is_there(self) -> bool:
        """Whether one is configured."""
        return bool(self.config.get(URL))

    def converter(self, *, is_key: bool) -> AvroConverter:
        """Of keys or values; StatementError without a registry or what is needed to speak to it."""
        if not self.is_there:
            raise StatementError(NOT_CONFIGURED)
        try:
            from penstock.registry.avro_converter import AvroConverter
        except ModuleNotFoundError as error:
            raise StatementError(NOT_INSTALLED.format(error.name)) from None
        made = AvroConverter()
        made.configure(self.config, is_key)
        return made

    def latest(self, subject: str) -> str | None:
        """The latest schema of a subject, in Avro; None if the registry does not have it."""
        from penstock.registry.registry import Unregistered

        try:
            return self._client.latest(subject)[1]
        except Unregistered:
            return None

    def register(self, subject: str, text: str) -> int:
        """The id of a schema; StatementError if the registry does not take it."""
        from penstock.registry.registry import Unregistered

        try:
            return self._client.register(subject, "AVRO", text, normalize=False)
        except Unregistered as error:
            raise StatementError(
                f"The schema of subject {subject} was not registered: {error}"
            ) from None

    @property
    def _client(self) -> Registry:
        """A new one: it keeps the latest schema of a subject for ever."""
        self.converter(is_key=False)  # refuses what is missing
        from penstock.registry.registry import Registry

        return Registry(RegistrySettings.of(REGISTRY_KEYS.parse(self.config)))

    def plain_keys(self) -> dict[str, str]:
        """What is no secret, for a converter of a connector."""
        keys = {key.name: key for key in REGISTRY_KEYS}
        return {k: v for k, v in self.config.items() if keys[k].type is not Type.PASSWORD}


NO_REGISTRY = SqlRegistry()
