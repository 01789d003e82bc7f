"""Which values of a connector's config are secrets.

First by their type: every PASSWORD key of the connector, its converters, transforms and predicates.
Keys that none of them defines are judged by their name: it contains password, secret, token,
credential, passphrase, JAAS or some kind of key, and does not end in a word that says the value
is something else (``token.refresh.ms``, ``ssl.keystore.location``). A value that consists only of
references to the worker's config providers, ``${file:/run/secrets/db:password}``, is not a secret:
it may be shown. With any other text next to them, the whole value is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from penstock.config.references import REFERENCE, Providers
from penstock.runtime.config.connector_config import COMMON, SINK
from penstock.runtime.config.part_keys import CONVERTERS, PREDICATES, TRANSFORMS, aliases
from penstock.runtime.errors import RequestError
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validator
from penstock.sdk.config import HIDDEN, ConfigDef

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
SECRET_WORD = re.compile(
    "passwords?|passwd|pwd|passphrase|secrets?|tokens?|credentials?|jaas|apikey|accesskey|"
    "privatekey|secretkey"
)
KEY_KIND = re.compile("access|account|api|auth|encryption|hmac|private|secret|sas|shared")
"""``key`` alone means nothing (``key.converter``); after one of these words it does."""
HARMLESS_END = re.compile(
    "algorithm|class|count|enabled?|endpoint|file|format|id|interval|length|location|max|min|mode|"
    "ms|name|path|provider|seconds|size|timeout|topic|ttl|type|ur[il]|version"
)

Config = Mapping[str, str | None]
Named = tuple[tuple[str, str], ...]


class SecretKeys:
    """Answers from the installed plugins. Thread-safe; fast, since plugins are read only once."""

    def __init__(self, plugins: Plugins, providers: Providers | None = None) -> None:
        self._validator = Validator(plugins, "")
        self._providers = (providers or Providers()).by_name
        self._plugins = plugins
        self._described = lru_cache(maxsize=1000)(self._describe)

    def of(self, config: Config) -> set[str]:
        """The keys of ``config`` whose values must not be shown."""
        secret, known = self._described(_classes(config))
        return {
            key
            for key, value in config.items()
            if value and (key in secret or (key not in known and sounds_secret(key)))
            if any(self._literals(value))
        }

    def masked(self, config: Config) -> dict[str, str | None]:
        """``config`` as it may be shown."""
        secret = self.of(config)
        return {key: HIDDEN if key in secret else value for key, value in config.items()}

    def values(self, config: Config) -> list[str]:
        """The secrets in ``config``, to be scrubbed from whatever else is shown."""
        found = [config[key] or "" for key in self.of(config)]
        # Plugins were given the resolved value in place of its references.
        parts = (text for value in found for text in (value.strip(), *self._literals(value)))
        return [text for text in dict.fromkeys(parts) if text and text != HIDDEN]

    def _literals(self, value: str) -> list[str]:
        """The text of ``value`` other than references to existing providers."""
        places = [m.span() for m in REFERENCE.finditer(value) if m[1] in self._providers]
        begins, ends = [0, *(end for _, end in places)], [*(b for b, _ in places), len(value)]
        return [value[b:e].strip() for b, e in zip(begins, ends, strict=True)]

    def _describe(self, classes: Named) -> tuple[frozenset[str], frozenset[str]]:
        """(secret keys, all keys) of the plugins named in a config."""
        definition = self._definition(dict(classes))
        secret = frozenset(key.name for key in definition if key.secret)
        return secret, frozenset(definition.names())

    def _definition(self, named: Mapping[str, str | None]) -> ConfigDef:
        try:
            plugin = self._plugins.connector((named.get("connector.class") or "").strip())
        except RequestError:
            return COMMON + SINK
        return self._validator.definition(plugin, named)


def _classes(config: Config) -> Named:
    """The values that decide which keys there are."""
    keys = ["connector.class", *CONVERTERS, TRANSFORMS, PREDICATES]
    for kind in (TRANSFORMS, PREDICATES):
        keys += [f"{kind}.{alias}.type" for alias in aliases(config, kind)]
    return tuple((key, config.get(key) or "") for key in keys)


def words_of(key: str) -> list[str]:
    """``connection.userPassword`` as connection, user, password."""
    return [word.lower() for word in WORD.findall(key)]


@lru_cache(maxsize=10_000)
def sounds_secret(key: str) -> bool:
    """Whether a key that no plugin defines has the name of a secret."""
    words = words_of(key)
    if not words or HARMLESS_END.fullmatch(words[-1]):
        return False
    kinds = (kind for kind, word in pairwise(words) if word == "key")
    return any(map(SECRET_WORD.fullmatch, words)) or any(map(KEY_KIND.fullmatch, kinds))
