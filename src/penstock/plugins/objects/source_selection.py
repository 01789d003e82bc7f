"""Which objects a configuration selects: a mark says something about no others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from penstock.plugins.objects.source_config import (
    DISTRIBUTION,
    OBJECT_SOURCE_CONFIG,
    START_KEY,
    numbering,
    strategy_of,
)
from penstock.plugins.objects.source_search import NumberOf
from penstock.sdk.distribution.by_rule import ObjectHash
from penstock.sdk.distribution.name_template import FILE_NAME_TEMPLATE
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy

PREFIX = "prefix"


@dataclass(frozen=True)
class Selection:
    """The objects that are read, and the virtual bucket of each."""

    text: str
    """The settings that decide, as JSON; "" where all of them are as they are by default."""
    prefix: str
    _number_of: NumberOf = field(compare=False, repr=False)

    def number_of(self, name: str) -> int | None:
        """The number of the object's virtual bucket; None if the object is not selected."""
        return self._number_of(name) if name.startswith(self.prefix) else None

    @property
    def short(self) -> str:
        """Tells it from others."""
        return hashlib.blake2b(self.text.encode(), digest_size=4).hexdigest()


def selection_of(config: Mapping[str, str], prefix: str) -> Selection:
    """What a connector's configuration selects."""
    strategy = strategy_of(config)
    names = [FILE_NAME_TEMPLATE, START_KEY, *_deciding(strategy)]
    said = {name: config[name] for name in names if config.get(name)}
    if said.get(FILE_NAME_TEMPLATE) == OBJECT_SOURCE_CONFIG.parse({})[FILE_NAME_TEMPLATE]:
        del said[FILE_NAME_TEMPLATE]
    if prefix:
        said[PREFIX] = prefix
    text = json.dumps(said, sort_keys=True, ensure_ascii=False) if said else ""
    return Selection(text, prefix, numbering(config, strategy))


@lru_cache(maxsize=64)
def stored_selection(text: str) -> Selection:
    """The one that a mark tells of; ConfigError if its strategy is gone."""
    config: dict[str, str] = json.loads(text) if text else {}
    return selection_of(config, config.get(PREFIX, ""))


def _deciding(strategy: ObjectDistributionStrategy) -> list[str]:
    """Keys on which the numbers of objects depend: none, where these are hashes of names."""
    if type(strategy).number_of is ObjectHash.number_of:
        return []
    return [DISTRIBUTION, *strategy.config_def.names()]
