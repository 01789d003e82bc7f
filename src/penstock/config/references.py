"""References in a config, ``${provider:[path:]key}``, and what they resolve to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.config.providers import Provider

REFERENCE = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
SHORTEST_SECRET = 4
"""Shorter values are not treated as secrets: hiding them would make logs unreadable."""
DEFINING = "config.providers"


@dataclass(frozen=True)
class Resolved:
    """A config with the values that its references name."""

    config: dict[str, str]
    found: Mapping[str, str] = field(default_factory=dict)
    """By the text of the reference."""
    missing: tuple[str, ...] = ()
    """References left unresolved: the value does not exist, or may not be read."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values found, to be hidden; of those with several lines, each line too."""
        texts = [t.strip() for v in self.found.values() for t in (v, *v.splitlines())]
        return tuple(dict.fromkeys(t for t in texts if len(t) >= SHORTEST_SECRET))

    def templated(self, raw: Mapping[str, str], made: Mapping[str, str]) -> dict[str, str]:
        """``made``, which was derived from this config, with its references put back for values.

        A key that the raw config has, with a reference or unchanged, is taken from there;
        elsewhere a resolved value is replaced by its reference, anywhere in the text.
        """
        kept = {k: v for k, v in raw.items() if self._refers(v) or made.get(k) == v}
        return {k: kept[k] if k in kept else self._referring(v) for k, v in made.items()}

    def _refers(self, text: str) -> bool:
        return any(reference in text for reference in self.found)

    def _referring(self, text: str) -> str:
        by_length = sorted(self.found.items(), key=lambda item: len(item[1]), reverse=True)
        for reference, value in by_length:
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, reference)
        return text


@dataclass(frozen=True)
class Providers:
    """The config providers of a worker, by the names used in references. Picklable."""

    by_name: Mapping[str, Provider] = field(default_factory=dict)

    def resolve(self, config: Mapping[str, str]) -> Resolved:
        """Replace every reference for which there is a value, also inside a longer text.

        A reference to an unknown provider or a missing value stays as it is. Keys that would define
        providers are left out. ConfigError if a value exists but its provider cannot read it.
        """
        config = {k: v for k, v in config.items() if not _defines(k)}
        if not self.by_name:
            return Resolved(config)
        asked = {r: (provider, path, key) for r, provider, path, key in self._references(config)}
        values = {r: provider.get(path, key) for r, (provider, path, key) in asked.items()}
        found = {r: value for r, value in values.items() if value is not None}
        replaced = {
            k: REFERENCE.sub(lambda match: found.get(match[0], match[0]), v)
            for k, v in config.items()
        }
        return Resolved(replaced, found, tuple(r for r in asked if r not in found))

    def files(self, config: Mapping[str, str]) -> set[Path]:
        """The files behind the references of a config."""
        files = (provider.file(path, key) for _, provider, path, key in self._references(config))
        return {file for file in files if file is not None}

    def refers(self, text: str) -> bool:
        """Whether there is a reference to one of these providers in ``text``."""
        return any(match[1] in self.by_name for match in REFERENCE.finditer(text))

    def _references(self, config: Mapping[str, str]) -> Iterator[tuple[str, Provider, str, str]]:
        for value in config.values():
            for match in REFERENCE.finditer(value):
                provider = self.by_name.get(match[1])
                if provider is not None:
                    yield match[0], provider, match[2] or "", match[3]


def _defines(key: str) -> bool:
    return key == DEFINING or key.startswith(DEFINING + ".")
