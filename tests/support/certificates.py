"""Certificates for TLS in tests, made by the openssl command."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

KEY_TYPE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


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


def make_certificate(folder: Path, name: str, authority: Certificate) -> Certificate:
    """A certificate for this machine's loopback names, signed by ``authority``."""
    made = _files(folder, name)
    signed_by = ("-CA", str(authority.certificate), "-CAkey", str(authority.key))
    names = ("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    leaf = ("-addext", "basicConstraints=critical,CA:FALSE")
    _openssl(
        "req", "-x509", *KEY_TYPE, "-subj", f"/CN={name}", *signed_by, *names, *leaf, *_out(made)
    )
    return made


def _files(folder: Path, name: str) -> Certificate:
    return Certificate(folder / f"{name}.crt", folder / f"{name}.key")


def _out(made: Certificate) -> tuple[str, ...]:
    return ("-out", str(made.certificate), "-keyout", str(made.key))


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
