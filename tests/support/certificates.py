"""Certificates for TLS in tests, made by the openssl command."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

KEY_TYPE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
LOOPBACK = "DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True)
class Certificate:
    """Two PEM files."""

    certificate: Path
    key: Path


def make_authority(folder: Path, name: str) -> Certificate:
    """An authority that trusts itself."""
    made = _files(folder, name)
    _openssl("req", "-x509", *KEY_TYPE, "-subj", f"/CN={name}", *_out(made))
    return made


def make_certificate(
    folder: Path, name: str, authority: Certificate, subject: str = "", names: str = LOOPBACK
) -> Certificate:
    """Signed by ``authority``; for this machine's loopback names unless others are given.

    ``subject`` is as openssl takes it, ``/O=Example/CN=ann``; without it ``name`` is the CN.
    """
    made = _files(folder, name)
    signed_by = ("-CA", str(authority.certificate), "-CAkey", str(authority.key))
    described = ("-subj", subject or f"/CN={name}", "-addext", f"subjectAltName={names}")
    leaf = ("-addext", "basicConstraints=critical,CA:FALSE", "-utf8")
    _openssl("req", "-x509", *KEY_TYPE, *described, *signed_by, *leaf, *_out(made))
    return made


def subject_of(certificate: Certificate) -> str:
    """What openssl says that the subject is, in the form that the documents ask for."""
    form = ("-nameopt", "RFC2253,-esc_msb", "-in", str(certificate.certificate))
    return _openssl("x509", "-noout", "-subject", *form).removeprefix("subject=").strip()


def _files(folder: Path, name: str) -> Certificate:
    return Certificate(folder / f"{name}.crt", folder / f"{name}.key")


def _out(made: Certificate) -> tuple[str, ...]:
    return ("-out", str(made.certificate), "-keyout", str(made.key))


def _openssl(*arguments: str) -> str:
    done = subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True)
    return done.stdout
