"""librdkafka's TLS settings as an ``SSLContext``, for clients of kafka-python."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from penstock.sdk.errors import ConfigError

Settings = Mapping[str, str]

_NO = ("false", "f", "0")


def tls_context(settings: Settings) -> ssl.SSLContext:
    """A context with these settings; ConfigError names those that cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _trust(context, settings)
    _identify(context, settings)
    if settings.get("ssl.endpoint.identification.algorithm", "").strip().lower() == "none":
        context.check_hostname = False
    if str(settings.get("enable.ssl.certificate.verification")).strip().lower() in _NO:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _trust(context: ssl.SSLContext, settings: Settings) -> None:
    where, text = settings.get("ssl.ca.location"), settings.get("ssl.ca.pem")
    with _named(settings, "ssl.ca.location", "ssl.ca.pem"):
        if where and Path(where).is_dir():
            context.load_verify_locations(capath=where, cadata=text)
        elif where or text:
            context.load_verify_locations(cafile=where, cadata=text)
        else:
            context.load_default_certs()
    with _named(settings, "ssl.crl.location"):
        if revoked := settings.get("ssl.crl.location"):
            context.load_verify_locations(cafile=revoked)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _identify(context: ssl.SSLContext, settings: Settings) -> None:
    if "ssl.keystore.location" in settings:
        raise ConfigError(
            "ssl.keystore.location cannot be used for this: give the certificate and the key as "
            "PEM, with ssl.certificate.location and ssl.key.location",
            key="ssl.keystore.location",
        )
    kinds = ("ssl.certificate", "ssl.key")
    with (
        _named(settings, *(f"{kind}.{form}" for kind in kinds for form in ("location", "pem"))),
        TemporaryDirectory() as folder,  # readable by this user only
    ):
        certificate, key = (_file(settings, kind, Path(folder)) for kind in kinds)
        if certificate:
            # Without a password, OpenSSL would prompt for that of an encrypted key.
            context.load_cert_chain(certificate, key, settings.get("ssl.key.password", ""))


def _file(settings: Settings, kind: str, folder: Path) -> str | None:
    """The file of a certificate or key; written to ``folder`` if only its text is given."""
    text = settings.get(f"{kind}.pem")
    if text is None:
        return settings.get(f"{kind}.location")
    file = folder / kind
    file.write_text(text, encoding="utf-8")
    return str(file)


@contextmanager
def _named(settings: Settings, *keys: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        given = [key for key in keys if key in settings]
        why = error.strerror if isinstance(error, OSError) else None
        raise ConfigError(
            f"{', '.join(given)} cannot be used: {why or error}", key=given[0] if given else None
        ) from error
