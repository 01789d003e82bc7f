"""Which values of a connector's config are secrets.

First by their type: every PASSWORD key of the connector, its converters and its transforms. Keys
that none of them describes go by their name: one that speaks of a password, secret, token,
credential, passphrase, JAAS or some kind of key, and does not end in a word that says the value
is something else (``token.refresh.ms``, ``ssl.keystore.location``). A value with a placeholder
such as ``${file:/run/secrets/db:password}`` is a reference and no secret: it may be shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from penstock.runtime.connector_config import COMMON, SINK
from penstock.runtime.errors import RequestError
from penstock.runtime.part_keys import TRANSFORMS, aliases
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation import Validator
from penstock.sdk.config import HIDDEN, ConfigDef

PLACEHOLDER = re.compile(r"\$\{[^}:]+:[^}]*\}")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
SECRET_WORD = re.compile(
    "passwords?|passwd|pwd|passphrase|secrets?|tokens?|credentials?|jaas|apikey|accesskey|"
    "privatekey|secretkey"
)
KEY_KIND = re.compile("access|account|api|auth|encryption|hmac|private|secret|sas|shared")
"""``key`` alone says nothing (``key.converter``); after one of these it does."""
HARMLESS_END = re.compile(
    "algorithm|class|count|enabled?|endpoint|file|format|id|interval|length|location|max|min|mode|"
    "ms|name|path|provider|seconds|size|timeout|topic|ttl|type|ur[il]|version"
)

Config = Mapping[str, str | None]
Named = tuple[tuple[str, str], ...]


class SecretKeys:
    """Answers from the installed plugins. Thread-safe; quick, since plugins are looked at once."""

    def __init__(self, plugins: Plugins) -> None:
        self._validator = Validator(plugins, "")
        self._plugins = plugins
        self._described = lru_cache(maxsize=1000)(self._describe)

    def of(self, config: Config) -> set[str]:
        """The keys of ``config`` whose values must not be shown."""
        secret, known = self._described(_classes(config))
        return {
            key
            for key, value in config.items()
            if value and (key in secret or (key not in known and _sounds_secret(key)))
            if not PLACEHOLDER.search(value)
        }

    def masked(self, config: Config) -> dict[str, str | None]:
        """``config`` as it may be shown."""
        secret = self.of(config)
        return {key: HIDDEN if key in secret else value for key, value in config.items()}

    def values(self, config: Config) -> list[str]:
        """The secrets in ``config``, to be scrubbed from whatever else is shown."""
        texts = ((config[key] or "").strip() for key in self.of(config))
        return [text for text in texts if text and text != HIDDEN]

    def _describe(self, classes: Named) -> tuple[frozenset[str], frozenset[str]]:
        """(secret keys, all keys) of whoever is named in a config."""
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
    """What decides which keys there are."""
    keys = ["connector.class", "key.converter", "value.converter", "transforms"]
    keys += [f"transforms.{alias}.type" for alias in aliases(config, TRANSFORMS)]
    return tuple((key, config.get(key) or "") for key in keys)


def words_of(key: str) -> list[str]:
    """``connection.userPassword`` as connection, user, password."""
    return [word.lower() for word in WORD.findall(key)]


@lru_cache(maxsize=10_000)
def _sounds_secret(key: str) -> bool:
    words = words_of(key)
    if not words or HARMLESS_END.fullmatch(words[-1]):
        return False
    kinds = (kind for kind, word in pairwise(words) if word == "key")
    return any(map(SECRET_WORD.fullmatch, words)) or any(map(KEY_KIND.fullmatch, kinds))
