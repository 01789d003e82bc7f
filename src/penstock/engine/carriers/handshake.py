"""Each side of a connection proves that it knows the carrier's secret, which is never sent.

The worker sends a nonce; the carrier answers with its id, a nonce of its own and a proof over both;
the worker then gives its proof. Each proof names the side that makes it, so none can be reflected
back to its sender.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from penstock.engine.carriers.frames import FIRST_LONGEST, Message, Stream, receive, send

REFUSED = "refused"


class NotAdmitted(ConnectionError):  # noqa: N818 (what has happened)
    """The other side does not know the secret, or does not speak this protocol."""


class Dismissed(ConnectionError):  # noqa: N818 (what has happened)
    """The worker is authentic and rejects this process: it must end."""


@dataclass(frozen=True)
class Identity:
    """A carrier's identification: which carrier it is, and in which process."""

    carrier: str
    process: str


def introduce(stream: Stream, identity: Identity, secret: str) -> None:
    """The carrier's part. NotAdmitted if the worker is not ours, Dismissed if it rejects us."""
    theirs = _text(receive(stream, FIRST_LONGEST), "nonce")
    ours = secrets.token_hex(16)
    send(
        stream,
        {
            "carrier": identity.carrier,
            "process": identity.process,
            "nonce": ours,
            "proof": _proof(secret, "carrier", theirs, ours, identity),
        },
    )
    answer = receive(stream, FIRST_LONGEST)
    expected = _proof(secret, "worker", theirs, ours, identity)
    if not hmac.compare_digest(_text(answer, "proof").encode(), expected.encode()):
        raise NotAdmitted("the worker did not prove itself")
    if answer.get(REFUSED):
        raise Dismissed(str(answer[REFUSED]))


def admit(
    stream: Stream, secret_of: Callable[[str], str | None], refusal: Callable[[Identity], str]
) -> Identity:
    """The worker's part; ``refusal`` says why one of our carriers is rejected, or "".

    NotAdmitted if it is not one of ours, or is rejected.
    """
    ours = secrets.token_hex(16)
    send(stream, {"nonce": ours})
    hello = receive(stream, FIRST_LONGEST)
    identity = Identity(_text(hello, "carrier"), _text(hello, "process"))
    theirs = _text(hello, "nonce")
    secret = secret_of(identity.carrier)
    # Unknown carriers are compared as well, so that the time taken reveals nothing.
    expected = _proof(secret or secrets.token_hex(16), "carrier", ours, theirs, identity)
    if not hmac.compare_digest(_text(hello, "proof").encode(), expected.encode()):
        raise NotAdmitted("an unknown carrier")
    assert secret is not None  # noqa: S101 (a random one is never matched)
    why = refusal(identity)
    proof = _proof(secret, "worker", ours, theirs, identity)
    send(stream, {"proof": proof, REFUSED: why})
    if why:
        raise NotAdmitted(why)
    return identity


def _proof(secret: str, side: str, worker: str, carrier: str, identity: Identity) -> str:
    parts = (side, worker, carrier, identity.carrier, identity.process)
    text = "\0".join(parts).encode(errors="surrogatepass")
    return hmac.digest(secret.encode(), text, "sha256").hex()


def _text(message: Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str) or "\0" in value:
        raise NotAdmitted(f"no {key} in a first message")
    return value
