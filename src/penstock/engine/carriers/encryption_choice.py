"""Whether a connection to the worker is encrypted: only beyond one machine."""

from __future__ import annotations

import socket
from collections.abc import Callable

from penstock.engine.carriers.frames import Stream


def encryption(certificate: str) -> Callable[[socket.socket], Stream] | None:
    """Encrypts for the worker that has this certificate; None without one."""
    if not certificate:
        return None
    # Loaded only here: it takes long to load.
    from penstock.engine.carriers.encryption import encrypt_for

    return encrypt_for(certificate)
