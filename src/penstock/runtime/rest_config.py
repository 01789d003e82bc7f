"""The keys of a worker's config that say who may use its REST API, and how."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.sdk.config import ConfigDef, ConfigKey, Type
from penstock.sdk.config_validators import one_of
from penstock.sdk.errors import ConfigError

SECRETS = "rest.config.secrets"
USERS_FILE = "rest.auth.users.file"
CERTIFICATE = "rest.ssl.certificate.file"
KEY = "rest.ssl.key.file"
CLIENT_CA = "rest.ssl.client.ca.file"
CLIENT_AUTH = "rest.ssl.client.auth"
PEER_CA = "rest.ssl.peer.ca.file"
HOSTS = "rest.allowed.hosts"
ADVERTISED = "rest.advertised.host.name"
ADMIN_LISTENERS = "admin.listeners"

REST_KEYS = (
    ConfigKey(
        SECRETS,
        default="masked",
        validator=one_of("masked", "stored"),
        doc="masked: configs are shown with [hidden] in place of secrets. stored: as they are "
        "stored, but only to known users with the role operate or admin.",
    ),
    ConfigKey(
        USERS_FILE,
        default=None,
        doc="File of those who may use the REST API, a line name:role:hash each, as `penstock "
        "hash-secret` prints it, or name:role:cert:subject for a client certificate. Unset: "
        "everybody who reaches it.",
    ),
    ConfigKey(CERTIFICATE, default=None, doc="Certificate chain of the REST API, PEM: for TLS."),
    ConfigKey(KEY, default=None, doc="Private key of that certificate, PEM, without a password."),
    ConfigKey(
        CLIENT_CA,
        default=None,
        doc="Clients show a certificate that one of the authorities in this PEM file signed.",
    ),
    ConfigKey(
        CLIENT_AUTH,
        default="required",
        validator=one_of("required", "requested"),
        doc="requested: a client may leave its certificate out, and is then known by its secret.",
    ),
    ConfigKey(
        PEER_CA,
        default=None,
        doc="Other workers of the cluster must show a certificate that one of the authorities in "
        "this PEM file signed. Unset: rest.ssl.client.ca.file, else the certificate itself.",
    ),
    ConfigKey(
        HOSTS,
        Type.LIST,
        default=["localhost"],
        doc="Names under which clients may address the REST API, besides plain addresses and "
        "rest.advertised.host.name.",
    ),
)


@dataclass(frozen=True)
class Tls:
    """Files of the certificate that the REST API shows, and of those that it asks for."""

    certificate: str
    key: str
    client_ca: str | None = None
    peer_ca: str | None = None
    client_required: bool = True
    """Whether nobody is served without a certificate, where they are asked for one."""

    def towards_peers(self) -> ssl.SSLContext:
        """How this worker knows other workers of its cluster, and is known by them."""
        authorities = self.peer_ca or self.client_ca or self.certificate
        context = ssl.create_default_context(cafile=authorities)
        context.load_cert_chain(self.certificate, self.key)
        return context


@dataclass(frozen=True)
class RestConfig:
    """Who may use the REST API, checked as a whole."""

    users_file: str | None = None
    tls: Tls | None = None
    shows_stored: bool = False
    host_names: frozenset[str] = frozenset({"localhost"})
    admin: bool = True
    """Whether what is below ``/admin`` is served."""

    @staticmethod
    def from_properties(properties: Mapping[str, str]) -> RestConfig:
        """What a worker's properties say; ConfigError if that does not go together."""
        values = ConfigDef(*REST_KEYS).parse(properties)
        config = RestConfig(
            users_file=values[USERS_FILE],
            tls=_tls(values),
            shows_stored=values[SECRETS] == "stored",
            host_names=frozenset(filter(None, (*values[HOSTS], properties.get(ADVERTISED)))),
            admin=not admin_is_off(properties),
        )
        if config.shows_stored and not config.users_file:
            raise ConfigError(
                f"{SECRETS}=stored shows secrets to known operators only, and nobody is known "
                f"without {USERS_FILE}: set that too, or leave {SECRETS} out.",
                key=SECRETS,
            )
        return config

    def refuse_exposure(self, host: str, *, insecure: bool) -> None:
        """ConfigError if strangers could reach ``host`` and nothing would stop them."""
        lacking = [f"{USERS_FILE} (see `penstock hash-secret`)"] if not self.users_file else []
        lacking += [f"{CERTIFICATE} with {KEY}"] if self.tls is None else []
        if not lacking or insecure or is_loopback(host):
            return
        raise ConfigError(
            f"Others could reach the REST API on {host}, and whoever can use it can read and "
            f"write as the worker can. First set {' and '.join(lacking)} in --worker-config, or "
            f"leave --host out. To open it to everybody all the same, add --insecure."
        )


def admin_is_off(properties: Mapping[str, str]) -> bool:
    """As Kafka Connect has it: the key is there, and names no listener."""
    return not properties.get(ADMIN_LISTENERS, "unset").strip()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; a name other than localhost might be any."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tls(values: Mapping[str, Any]) -> Tls | None:
    files: list[str | None] = [values[name] for name in (CERTIFICATE, KEY, CLIENT_CA, PEER_CA)]
    certificate, key, client_ca, peer_ca = files
    if certificate and key:
        required = values[CLIENT_AUTH] == "required"
        return Tls(certificate, key, client_ca, peer_ca, required)
    if certificate or key or client_ca or peer_ca:
        missing = CERTIFICATE if not certificate else KEY
        raise ConfigError(f"For TLS {missing} has to be set, too.", key=missing)
    return None
