"""Secrets as they may be stored: hashed with scrypt, a salt of its own each."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os

KIND = "scrypt"
LOG_N, R, P = 15, 8, 1
MOST_LOG_N = 18
MEMORY = 512 * 1024 * 1024
"""A limit; 128 * r * n bytes are used, 32 MB with the numbers above."""
NO_HASH = "is not a hash from `penstock hash-secret`"


def hashed(secret: str) -> str:
    """``scrypt$<log2 n>$<r>$<p>$<salt>$<hash>``; without colons, for a line of a users file."""
    salt = os.urandom(16)
    digest = _scrypt(secret, salt, LOG_N, R, P)
    return "$".join([KIND, str(LOG_N), str(R), str(P), _text(salt), _text(digest)])


def matches(secret: str, stored: str) -> bool:
    """Whether ``stored`` was made from ``secret``. Takes a tenth of a second, on purpose."""
    log_n, r, p, salt, digest = _parts(stored)
    return hmac.compare_digest(_scrypt(secret, salt, log_n, r, p), digest)


def check_form(stored: str) -> None:
    """ValueError if this is not a hash."""
    _parts(stored)


def _parts(stored: str) -> tuple[int, int, int, bytes, bytes]:
    try:
        kind, log_n, r, p, salt, digest = stored.split("$")
        numbers = int(log_n), int(r), int(p)
        decoded = base64.b64decode(salt, validate=True), base64.b64decode(digest, validate=True)
    except (ValueError, binascii.Error):
        raise ValueError(NO_HASH) from None
    if kind != KIND or not 10 <= numbers[0] <= MOST_LOG_N or not 1 <= numbers[1] * numbers[2] <= 64:
        raise ValueError(NO_HASH)
    if len(decoded[1]) < 32:
        raise ValueError(NO_HASH)
    return *numbers, *decoded


def _scrypt(secret: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(
        secret.encode(), salt=salt, n=1 << log_n, r=r, p=p, maxmem=MEMORY, dklen=32
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
