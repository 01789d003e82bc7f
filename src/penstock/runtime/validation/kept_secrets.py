"""``[hidden]`` in a config from a client: the stored value stays.

A client that reads a config, changes a key and sends it back keeps the secrets. A stored secret
stays only with the place it was given for: with another connector class, or another host, it would
be sent wherever the client chooses, so it has to be given again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.runtime.errors import BadRequest
from penstock.runtime.validation.secret_keys import SecretKeys, words_of
from penstock.sdk.config import HIDDEN

PLACE_WORD = re.compile(
    "ur[il]s?|hosts?|hostname|port|servers?|endpoints?|address(es)?|brokers?|bootstrap|proxy|"
    "domain|region|jdbc|dsn"
)
SEND_IT = f"Send the value itself in place of {HIDDEN}"

Config = Mapping[str, str | None]


def has_masks(config: Config) -> bool:
    """Whether ``config`` has a mask for a stored value."""
    return HIDDEN in config.values()


def refuse_masks(config: Config) -> None:
    """BadRequest if ``config`` has a mask, when nothing is stored yet."""
    masked = sorted(key for key, value in config.items() if value == HIDDEN)
    if masked:
        raise BadRequest(
            f"{', '.join(masked)}: {HIDDEN} stands for a stored value, but none is stored. "
            f"{SEND_IT}."
        )


def with_stored(sent: Config, stored: Config, keys: SecretKeys) -> dict[str, str | None]:
    """``sent`` with stored values in place of masks; BadRequest if they cannot stay."""
    filled = {k: stored.get(k, HIDDEN) if v == HIDDEN else v for k, v in sent.items()}
    kept = sorted(key for key, value in sent.items() if value == HIDDEN)
    refuse_masks({key: filled[key] for key in kept})
    _refuse_shown(kept, filled, stored, keys)
    moved = [key for key in _places(sent, stored) if filled.get(key) != stored.get(key)]
    if kept and moved:
        raise BadRequest(
            f"{', '.join(moved)} changes, so the stored {', '.join(kept)} cannot be kept: it was "
            f"given for another place. {SEND_IT}."
        )
    return filled


def _refuse_shown(kept: list[str], filled: Config, stored: Config, keys: SecretKeys) -> None:
    """A secret must not become visible because the new config no longer treats it as one."""
    shown = sorted((keys.of(stored) & set(kept)) - keys.of(filled))
    if shown:
        raise BadRequest(f"{', '.join(shown)} would no longer be a secret. {SEND_IT}.")


def _places(*configs: Config) -> list[str]:
    """Keys that decide where the secrets are sent."""
    known = {key for config in configs for key in config}
    return sorted(key for key in known if key == "connector.class" or _is_place(key))


def _is_place(key: str) -> bool:
    return any(map(PLACE_WORD.fullmatch, words_of(key)))
