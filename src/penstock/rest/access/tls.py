"""TLS of the HTTP server, and certificates of its clients where they must show one."""

from __future__ import annotations

import ssl
from typing import Any

from penstock.rest.access.certificate_protocol import CertificateProtocol
from penstock.runtime.config.rest_config import CERTIFICATE, CLIENT_CA, KEY, Tls
from penstock.sdk.errors import ConfigError


def tls_options(tls: Tls | None) -> dict[str, Any]:
    """For uvicorn; ConfigError names the files that cannot be used, before anything is served."""
    if tls is None:
        return {}
    context = _context(tls)
    return {
        "ssl_certfile": tls.certificate,
        "ssl_keyfile": tls.key,
        "ssl_context_factory": lambda _config, _default: context,
        "http": CertificateProtocol,
    }


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        # An empty password, so that a key that wants one is an error and no prompt.
        context.load_cert_chain(tls.certificate, tls.key, password="")
    except (OSError, ssl.SSLError) as error:
        raise _unusable(
            f"{CERTIFICATE} and {KEY}", f"{tls.certificate}, {tls.key}", error
        ) from None
    if tls.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED if tls.client_required else ssl.CERT_OPTIONAL
        try:
            context.load_verify_locations(tls.client_ca)
        except (OSError, ssl.SSLError) as error:
            raise _unusable(CLIENT_CA, tls.client_ca, error) from None
    return context


def _unusable(keys: str, files: str, error: OSError) -> ConfigError:
    return ConfigError(
        f"{keys} cannot be used ({files}): {error.strerror or error}. A certificate chain, its "
        "private key without a password, and authorities are PEM files that the worker can read."
    )
