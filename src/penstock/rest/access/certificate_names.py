"""What a client's certificate calls its holder, and how a users file refers to that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SHORT = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
"""The types that RFC 2253 has a short name for; others keep theirs."""
KIND = "cert"
SUBJECT, COMMON_NAME, URI, DNS = "subject", "CN", "URI", "DNS"
SPECIAL = re.compile(r'([,+"\\<>;]|^[ #]| \Z)')
NO_SUBJECT = f"{KIND} is followed by nothing, or by a subject (CN=...), URI:... or DNS:..."

Identity = tuple[str, str]
"""A kind of name, and the name: a CN can thus not pass for a subject or an alternative name."""
Attributes = Iterable[tuple[str, str]]


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate that the TLS layer has verified."""

    subject: str
    """As RFC 2253 writes it, and Kafka its principals: ``CN=ann,OU=data,O=Example``."""
    identities: tuple[Identity, ...]
    """The whole subject, its CN, then alternative names: the first that is known counts."""

    @staticmethod
    def of(decoded: Mapping[str, Any]) -> ClientCertificate:
        """From what `ssl.SSLObject.getpeercert` returns."""
        parts = [list(part) for part in decoded.get("subject", ())]
        subject = ",".join(map(_written, reversed(parts)))
        names = [value for part in parts for kind, value in part if kind == "commonName"]
        # Of several, none could be told to be the right one.
        common = [(COMMON_NAME, names[0])] if len(names) == 1 else []
        return ClientCertificate(
            subject, ((SUBJECT, subject), *common, *_alternatives(decoded, URI, DNS))
        )


def identity_of(name: str, text: str) -> Identity | None:
    """What the last field of a user's line says: whom a certificate must name; None for a hash.

    ``cert`` alone is the user's own name as CN. ValueError if it is neither.
    """
    if text == KIND:
        return COMMON_NAME, name
    kind, colon, rest = text.partition(":")
    if kind != KIND or not colon:
        return None
    alternative, _, value = rest.partition(":")
    if alternative in (URI, DNS) and value:
        return _canonical(alternative, value)
    if "=" not in rest:
        raise ValueError(NO_SUBJECT)
    return SUBJECT, rest


def _alternatives(decoded: Mapping[str, Any], *kinds: str) -> list[Identity]:
    shown: Attributes = decoded.get("subjectAltName", ())
    return [_canonical(kind, value) for wanted in kinds for kind, value in shown if kind == wanted]


def _canonical(kind: str, value: str) -> Identity:
    return kind, value.lower() if kind == DNS else value


def _written(part: Attributes) -> str:
    return "+".join(f"{SHORT.get(kind, kind)}={_escaped(value)}" for kind, value in part)


def _escaped(value: str) -> str:
    return SPECIAL.sub(r"\\\1", value)
