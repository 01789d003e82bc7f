"""The keys with which workers of one cluster sign their requests to each other.

The leader creates a new one every hour and stores it in the config topic as Kafka Connect does:
being able to read that topic proves membership. A signature covers everything that matters in a
request, and the time it was made, so it cannot be used for anything else, nor for long.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ALGORITHM = "HmacSHA256"
SIGNATURE, SIGNED_BY = "X-Connect-Authorization", "X-Connect-Request-Signature-Algorithm"
MOMENT, ROLE, SENDER = "X-Penstock-Moment", "X-Penstock-Role", "X-Penstock-Worker"
KEY_BYTES = 32
LIFETIME_SECONDS = 3600.0
LONGEST_SKEW_SECONDS = 60.0
LONGEST_STAMP = 12
"""Digits, enough for the seconds of the next 30,000 years."""


@dataclass(frozen=True)
class Signed:
    """What a signature covers."""

    method: str
    target: str
    """Path and query, as in the request."""
    body: bytes
    sender: str
    role: str

    @staticmethod
    def of(method: str, target: str, body: bytes, headers: Mapping[str, str]) -> Signed:
        """What a received request claims."""
        return Signed(method, target, body, headers.get(SENDER, ""), headers.get(ROLE, ""))

    def headers(self, key: bytes, moment: float) -> dict[str, str]:
        """The headers that prove it."""
        stamp = str(int(moment))
        return {
            SIGNATURE: base64.b64encode(self._mac(key, stamp)).decode(),
            SIGNED_BY: ALGORITHM,
            MOMENT: stamp,
            ROLE: self.role,
            SENDER: self.sender,
        }

    def proven(self, key: bytes, stamp: str, signature: bytes) -> bool:
        """Whether this was signed with ``key``."""
        return hmac.compare_digest(self._mac(key, stamp), signature)

    def _mac(self, key: bytes, stamp: str) -> bytes:
        digest = hashlib.sha256(self.body).hexdigest()
        text = "\n".join((self.method, self.target, self.sender, self.role, stamp, digest))
        return hmac.digest(key, text.encode(), "sha256")


class SessionKeys:
    """The current key and the previous one, which pending requests may use. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: list[bytes] = []
        self._taken = 0.0
        self.digest: str | None = None
        """The digest of the newest key in the config topic, of any writer and algorithm."""

    def take(self, body: Mapping[str, Any] | None) -> None:
        """The record of the config topic."""
        self.digest = None if body is None else digest_of(body)
        if body is None or body.get("algorithm") != ALGORITHM:
            return
        with self._lock:
            self._keys = [base64.b64decode(body["key"]), *self._keys[:1]]
            self._taken = time.time()

    @staticmethod
    def fresh() -> dict[str, Any]:
        """A record with a new key.

        It is marked as expired. A leader of Kafka Connect would keep using a key of the last hour;
        so it writes its own immediately, which ``runtime.stores.foreign_lead`` recognises.
        """
        key = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
        return {"key": key, "algorithm": ALGORITHM, "creation-timestamp": 0}

    @property
    def due(self) -> bool:
        """Whether it is time for the leader, which started with its own key, to renew it."""
        return time.time() - self._taken > LIFETIME_SECONDS

    def sign(self, signed: Signed) -> dict[str, str] | None:
        """Headers that sign a request of this cluster; None while there is no key."""
        with self._lock:
            key = self._keys[0] if self._keys else None
        return None if key is None else signed.headers(key, time.time())

    def proves(self, signed: Signed, headers: Mapping[str, str]) -> bool:
        """Whether ``headers`` prove that a worker of this cluster signed the request recently."""
        stamp, encoded = headers.get(MOMENT, ""), headers.get(SIGNATURE, "")
        if not in_form(headers):
            return False
        try:
            signature = base64.b64decode(encoded, validate=True)
        except ValueError:
            return False
        with self._lock:
            keys = list(self._keys)
        return any(signed.proven(key, stamp, signature) for key in keys)


def digest_of(body: Mapping[str, Any]) -> str:
    """The digest that identifies a key where the key itself must not be stored."""
    return hashlib.sha256(str(body.get("key")).encode()).hexdigest()


def in_form(headers: Mapping[str, str]) -> bool:
    """Whether a signed request is worth reading: signed our way, and recently."""
    return headers.get(SIGNED_BY) == ALGORITHM and _recent(headers.get(MOMENT, ""))


def _recent(stamp: str) -> bool:
    if len(stamp) > LONGEST_STAMP or not stamp.isdecimal():
        return False
    return abs(time.time() - int(stamp)) <= LONGEST_SKEW_SECONDS
