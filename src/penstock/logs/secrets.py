"""Values that must not be in a log: those of each connector's config, and the worker's own."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORKER = ""
# In lines that are not about a connector, hiding shorter values would hide too much.
SHORTEST_ELSEWHERE = 4

_hidden: dict[str, tuple[str, ...]] = {}


def hide(secrets: Iterable[str], connector: str = WORKER) -> None:
    """Hide these from now on in lines about ``connector``; without a connector, in every line."""
    _hidden[connector] = tuple(secrets)


def hide_also(secrets: Iterable[str], connector: str) -> None:
    """Hide these too: several leases of ``connector`` may run in this process."""
    _hidden[connector] = tuple(dict.fromkeys((*_hidden.get(connector, ()), *secrets)))


def hidden_from(connector: str | None) -> tuple[str, ...]:
    """What must not be in a line about ``connector``, or in a line about no connector."""
    if connector is not None:
        return _hidden.get(WORKER, ()) + _hidden.get(connector, ())
    everyones = (secret for secrets in list(_hidden.values()) for secret in secrets)
    return tuple(secret for secret in everyones if len(secret) >= SHORTEST_ELSEWHERE)


def scrub(text: str, secrets: Iterable[str]) -> str:
    """``text`` without any of ``secrets``."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if secret:
            text = text.replace(secret, "[hidden]")
    return text


_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_BY_NAME = re.compile(
    r"((?:password|passwd|pwd|passphrase|secret|token|api[._-]?key|jaas[._-]?config)"
    r"[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,;&)}]+)",
    re.IGNORECASE,
)


def scrub_unknown(text: str) -> str:
    """``text`` of others without what looks like a secret: after its name, or in an address."""
    return _BY_NAME.sub(r"\1[hidden]", _IN_ADDRESS.sub("[hidden]", text))
