"""Who a request says it is from, and whether that is true.

A certificate that TLS has verified says it by itself, if the users file knows it. Else a secret is
sent as a bearer token, ``name.secret``, or by basic authentication. Its hash is slow to compute on
purpose; so a secret that was right is remembered, by a digest under a key that only this process
has and only until its line in the users file changes.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from anyio import CapacityLimiter, to_thread

from penstock.rest.access.attempts import Attempts
from penstock.rest.access.caller import Caller
from penstock.rest.access.certificate_names import ClientCertificate
from penstock.rest.access.hashed_secrets import hashed, matches
from penstock.rest.access.users import User, Users

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="penstock", Basic realm="penstock", charset="UTF-8"'}
HOW = (
    "Send 'Authorization: Bearer <name>.<secret>' or basic authentication; the penstock command "
    "takes <name>.<secret> from PENSTOCK_TOKEN"
)
HASHES_AT_ONCE = 2


@dataclass(frozen=True)
class Credentials:
    """What a request brings along."""

    name: str
    secret: str = field(repr=False)


class Refused(Exception):  # noqa: N818 (named for what has happened)
    """The request is not answered: a status, a text for its sender, and headers."""

    def __init__(
        self,
        status: int,
        text: str,
        headers: Mapping[str, str],
        who: str = "unknown",
        *,
        next_step: str = "",
    ) -> None:
        super().__init__(text)
        self.next_step = next_step
        self.status = status
        self.headers = headers
        self.who = who


class Doorkeeper:
    """Tells callers by their credentials. For one event loop."""

    def __init__(self, users: Users, attempts: Attempts | None = None) -> None:
        self._users = users
        self._attempts = attempts or Attempts()
        self._key = os.urandom(32)
        self._proved: dict[str, tuple[str, bytes]] = {}
        self._nobody = hashed(os.urandom(16).hex())
        self._hashing = CapacityLimiter(HASHES_AT_ONCE)

    async def admit(
        self, authorization: str | None, address: str, certificate: ClientCertificate | None = None
    ) -> Caller:
        """Who it is: the holder of a verified certificate that the users file knows, else the one
        whose secret it is; Refused with 401 or 429.
        """
        holder = self._users.holder(certificate) if certificate else None
        if holder is not None:
            return Caller(holder.name, holder.role, address)
        sent = credentials_of(authorization)
        if sent is None:
            raise Refused(401, f"{_unknown(certificate)} {HOW}.", CHALLENGE)
        user = self._users.get(sent.name)
        if user is None or not self._is_proved(user, sent):
            await self._prove(user, sent, address)
        if user is None:
            raise _wrong()
        return Caller(user.name, user.role, address)

    def _is_proved(self, user: User, sent: Credentials) -> bool:
        digest, proof = self._proved.get(user.name, ("", b""))
        return digest == user.hash and hmac.compare_digest(proof, self._proof(sent))

    def _proof(self, sent: Credentials) -> bytes:
        return hmac.digest(self._key, sent.secret.encode(), "sha256")

    async def _prove(self, user: User | None, sent: Credentials, address: str) -> None:
        """An unknown name takes as long as a known one, and is refused in the same words."""
        wait = self._attempts.begin(address)
        if wait:
            seconds = math.ceil(wait)
            text = f"Too many attempts from {address} failed: try again in {seconds} s."
            raise Refused(429, text, {"Retry-After": str(seconds)})
        stored = self._nobody if user is None else user.hash
        right = await to_thread.run_sync(matches, sent.secret, stored, limiter=self._hashing)
        if user is None or not right:
            raise _wrong()
        self._attempts.succeeded(address)
        self._proved[user.name] = (user.hash, self._proof(sent))


def credentials_of(authorization: str | None) -> Credentials | None:
    """What an Authorization header says; None if nothing that is understood here."""
    scheme, _, value = (authorization or "").strip().partition(" ")
    if scheme.lower() == "bearer":
        name, dot, secret = value.strip().partition(".")
        return Credentials(name, secret) if dot else None
    if scheme.lower() == "basic":
        return _basic(value.strip())
    return None


def _basic(value: str) -> Credentials | None:
    try:
        name, colon, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Credentials(name, secret) if colon else None


def _unknown(certificate: ClientCertificate | None) -> str:
    if certificate is None:
        return "This worker requires authentication."
    return f"No user of this worker has the certificate of '{certificate.subject}'."


def _wrong() -> Refused:
    return Refused(401, f"Unknown user, or wrong secret. {HOW}.", CHALLENGE)
