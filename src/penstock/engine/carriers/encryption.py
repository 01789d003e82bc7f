"""Encryption of the connections between a worker and its carriers beyond one machine.

The worker makes a certificate when it starts; carriers get it in the closure of their job, and
trust no other. Both sides still prove that they know the carrier's secret.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from penstock.engine.carriers.frames import Stream

PIECE = 64 * 1024
VALID = timedelta(days=3650)
NAME = "penstock-worker"


class EncryptedStream:
    """TLS over a socket. One thread may receive while another sends.

    A socket of the ssl module must not be used by two threads at once, and would make one wait
    for the other; here only the encryption itself is under a lock, not the waiting.
    """

    def __init__(self, connection: socket.socket, context: ssl.SSLContext, *, server: bool) -> None:
        self._connection = connection
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        name = None if server else NAME
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server, name)
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._shake_hands()

    def recv(self, most: int, /) -> bytes:
        """Some bytes; none at the end."""
        while True:
            with self._lock:
                try:
                    return self._tls.read(most)
                except ssl.SSLWantReadError:
                    pass
                except ssl.SSLZeroReturnError:
                    return b""
                pending = self._outgoing.pending
            if pending:
                self._send_pending()
            if not self._receive():
                return b""

    def sendall(self, data: bytes, /) -> None:
        """Send all of it."""
        with self._sending:
            for start in range(0, len(data), PIECE):
                with self._lock:
                    self._tls.write(data[start : start + PIECE])
                    encrypted = self._outgoing.read()
                self._connection.sendall(encrypted)

    def _shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._send_pending()
                if not self._receive():
                    raise ConnectionResetError("the other side closed the connection") from None
            else:
                self._send_pending()
                return

    def _send_pending(self) -> None:
        with self._sending:
            with self._lock:
                encrypted = self._outgoing.read()
            self._connection.sendall(encrypted)

    def _receive(self) -> bool:
        data = self._connection.recv(PIECE)
        with self._lock:
            if data:
                self._incoming.write(data)
        return bool(data)


class Certificate:
    """A worker's certificate, made for this run."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        self.pem = _self_signed(key).public_bytes(serialization.Encoding.PEM).decode()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.num_tickets = 0
        _load(self._context, self.pem, key)

    def encrypt(self, connection: socket.socket) -> Stream:
        """The worker's end of a connection."""
        return EncryptedStream(connection, self._context, server=True)


def encrypt_for(pem: str) -> Callable[[socket.socket], Stream]:
    """The carrier's end: it trusts this certificate alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_verify_locations(cadata=pem)
    return lambda connection: EncryptedStream(connection, context, server=False)


def _self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _load(context: ssl.SSLContext, pem: str, key: ec.EllipticCurvePrivateKey) -> None:
    """Python reads keys only from files: this one exists for a moment, for this user alone."""
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    handle, path = tempfile.mkstemp(prefix="penstock-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(pem.encode() + secret)
        context.load_cert_chain(path)
    finally:
        Path(path).unlink()
