"""A worker on an address that other machines can reach: only with users and TLS."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from certificates import Certificate, make_authority, make_certificate
from penstock.cli.service import Service
from penstock.client import ConnectApiError, ConnectClient, Credentials
from penstock.rest.access import hashed_secrets
from penstock.rest.access.hashed_secrets import hashed
from penstock.runtime.config.rest_config import is_loopback

SECRET = "a secret of some length"
Run = Callable[..., Any]


@pytest.fixture
def address() -> str:
    """The address under which other machines know this one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # asks for a route there, and sends nothing
        except OSError:
            pytest.skip("this machine has no route to others, so no address of its own")
        own = str(probe.getsockname()[0])
    if is_loopback(own):
        pytest.skip("this machine has no address but loopback ones")
    return own


@pytest.fixture
def authority(tmp_path: Path) -> Certificate:
    return make_authority(tmp_path, "authority")


@pytest.fixture
def guarded(
    tmp_path: Path, address: str, authority: Certificate, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    monkeypatch.setattr(hashed_secrets, "LOG_N", 10)
    (tmp_path / "users").write_text(f"ann:read:{hashed(SECRET)}\n")
    own = make_certificate(tmp_path, "worker", authority, names=f"IP:{address}")
    properties = {
        "rest.auth.users.file": str(tmp_path / "users"),
        "rest.ssl.certificate.file": str(own.certificate),
        "rest.ssl.key.file": str(own.key),
    }
    service = Service(properties, tmp_path / "data", 0, host=address)
    service.serve()
    yield service
    service.stop()


def test_a_guarded_worker_answers_those_it_knows(
    guarded: Service, address: str, authority: Certificate
) -> None:
    assert guarded.url.startswith(f"https://{address}:")
    nobody = Credentials(ca_file=str(authority.certificate))
    with ConnectClient(guarded.url, credentials=replace(nobody, token=f"ann.{SECRET}")) as ann:
        assert "version" in ann.root()
    with (
        ConnectClient(guarded.url, credentials=nobody) as stranger,
        pytest.raises(ConnectApiError, match="requires authentication"),
    ):
        stranger.root()
    with pytest.raises(httpx.TransportError):
        httpx.get(guarded.url.replace("https", "http"), trust_env=False)


def test_it_listens_on_no_other_address(guarded: Service) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", guarded.rest.port), 5).close()


def test_without_users_and_tls_it_does_not_start_and_says_what_to_do(
    run: Run, home: Path, address: str
) -> None:
    result = run("up", "--host", address, "--port", "0", "--data-dir", str(home / "data"))
    assert result.code == 1
    assert f"Other machines could reach the REST API on {address}" in result.err
    for advice in (
        "First set rest.auth.users.file (see `penstock hash-secret`)",
        "rest.ssl.certificate.file with rest.ssl.key.file in --worker-config",
        "or omit --host",
        "add --insecure",
    ):
        assert advice in result.err
