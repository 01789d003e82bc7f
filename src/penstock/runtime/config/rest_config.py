"""The keys of a worker's config for access to its REST API."""

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
        doc="File of the users of the REST API, one line name:role:hash each, as `penstock "
        "hash-secret` prints it, or name:role:cert:subject for a client certificate. Unset: "
        "anyone who can reach it.",
    ),
    ConfigKey(CERTIFICATE, default=None, doc="Certificate chain of the REST API for TLS, PEM."),
    ConfigKey(KEY, default=None, doc="Private key of that certificate, PEM, without a password."),
    ConfigKey(
        CLIENT_CA,
        default=None,
        doc="Clients must present a certificate signed by one of the authorities in this PEM file.",
    ),
    ConfigKey(
        CLIENT_AUTH,
        default="required",
        validator=one_of("required", "requested"),
        doc="requested: a client may omit its certificate, and then authenticates by its secret.",
    ),
    ConfigKey(
        PEER_CA,
        default=None,
        doc="Other workers of the cluster must present a certificate signed by one of the "
        "authorities in this PEM file. Unset: rest.ssl.client.ca.file, otherwise the certificate "
        "itself.",
    ),
    ConfigKey(
        HOSTS,
        Type.LIST,
        default=["localhost"],
        doc="Host names by which clients may address the REST API, besides IP addresses and "
        "rest.advertised.host.name.",
    ),
)


@dataclass(frozen=True)
class Tls:
    """Files of the REST API's certificate, and of the authorities for client certificates."""

    certificate: str
    key: str
    client_ca: str | None = None
    peer_ca: str | None = None
    client_required: bool = True
    """Whether client certificates, if used at all, are required."""

    def towards_peers(self) -> ssl.SSLContext:
        """How workers of the cluster authenticate each other."""
        authorities = self.peer_ca or self.client_ca or self.certificate
        context = ssl.create_default_context(cafile=authorities)
        context.load_cert_chain(self.certificate, self.key)
        return context


@dataclass(frozen=True)
class RestConfig:
    """The checked settings for access to the REST API."""

    users_file: str | None = None
    tls: Tls | None = None
    shows_stored: bool = False
    host_names: frozenset[str] = frozenset({"localhost"})
    admin: bool = True
    """Whether ``/admin`` is served."""

    @staticmethod
    def from_properties(properties: Mapping[str, str]) -> RestConfig:
        """The settings in a worker's properties; ConfigError if they contradict each other."""
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
                f"{SECRETS}=stored shows secrets only to authenticated operators, which requires "
                f"{USERS_FILE}: set that too, or remove {SECRETS}.",
                key=SECRETS,
            )
        return config

    def refuse_exposure(self, host: str, *, insecure: bool) -> None:
        """ConfigError if the REST API on ``host`` would be open to other machines unprotected."""
        lacking = [f"{USERS_FILE} (see `penstock hash-secret`)"] if not self.users_file else []
        lacking += [f"{CERTIFICATE} with {KEY}"] if self.tls is None else []
        if not lacking or insecure or is_loopback(host):
            return
        raise ConfigError(
            f"Other machines could reach the REST API on {host}, and its users can read and "
            f"write what the worker can. First set {' and '.join(lacking)} in --worker-config, or "
            f"omit --host. To open it to everyone anyway, add --insecure."
        )


def admin_is_off(properties: Mapping[str, str]) -> bool:
    """As in Kafka Connect: the key is set, and names no listener."""
    return not properties.get(ADMIN_LISTENERS, "unset").strip()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address; names other than localhost do not count."""
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
        raise ConfigError(f"TLS also requires {missing}.", key=missing)
    return None
