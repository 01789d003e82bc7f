"""What is checked before a connector's configuration is stored."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from penstock.config.near_misses import near_misses
from penstock.logs.subject import about
from penstock.runtime.errors import BadRequest
from penstock.runtime.stores.sink_groups import SinkGroups
from penstock.runtime.validation.exclusive_targets import ExclusiveTargets
from penstock.runtime.validation.guarded_validation import GuardedValidator
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admission:
    """Each raises BadRequest with what is wrong. Thread-safe."""

    validation: GuardedValidator
    sink_groups: SinkGroups
    targets: ExclusiveTargets

    def refuse_invalid(self, name: str, config: Mapping[str, str]) -> None:
        """A key that was probably mistyped is only named in the log."""
        validated = self.validation.validate(config)
        validated.raise_if_invalid()
        with about(name):
            for key, meant in near_misses(config, [each.name for each in validated.definition]):
                log.warning("%s is not a known key and is ignored: did you mean %s?", key, meant)
        if validated.plugin.type == "sink":
            self._refuse_shared_group(name, config)

    def _refuse_shared_group(self, name: str, config: Mapping[str, str]) -> None:
        try:
            self.sink_groups.refuse_shared(self.sink_groups.named(name, config))
        except ConfigError as error:
            raise BadRequest(str(error)) from error

    def claiming(self, name: str, config: Mapping[str, str]) -> AbstractContextManager[None]:
        """While what only one connector may write to is claimed for this one."""
        return self.targets.claimed(name, config)


def named(name: str, config: Mapping[str, str]) -> dict[str, str]:
    """The configuration with the connector's name in it; BadRequest if it has another."""
    given = config.get("name")
    complete = {**config, "name": name if given is None else given}
    if complete["name"] != name:
        raise BadRequest(
            f"Connector name configuration ({complete['name']}) doesn't match connector name in "
            f"the URL ({name})"
        )
    return complete
