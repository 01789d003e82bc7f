"""TLS, certificates of clients, and what may be bound without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from certificates import Certificate, make_authority, make_certificate
from penstock.client import ConnectClient, ConnectError, Credentials, WorkerUnreachable
from penstock.rest import RestServer, create_app
from penstock.runtime.config.rest_config import RestConfig, Tls
from penstock.sdk.errors import ConfigError


@pytest.fixture(scope="module")
def own(folder: Path, authority: Certificate) -> Certificate:
    return make_certificate(folder, "worker", authority)


@contextmanager
def serving_tls(herder: Mock, own: Certificate, client_ca: Path | None = None) -> Iterator[str]:
    tls = Tls(str(own.certificate), str(own.key), str(client_ca) if client_ca else None)
    server = RestServer(create_app(herder), port=0, tls=tls)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def health(url: str, **credentials: str) -> str:
    with ConnectClient(url, 10, credentials=Credentials(**credentials)) as client:
        return str(client.health()["status"])


def test_served_by_tls_and_nothing_else(
    herder: Mock, own: Certificate, authority: Certificate
) -> None:
    with serving_tls(herder, own) as url:
        assert url.startswith("https://127.0.0.1:")
        assert health(url, ca_file=str(authority.certificate)) == "healthy"
        assert health(url, ca_file=str(own.certificate)) == "healthy"
        with pytest.raises(WorkerUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
            health(url)
        with pytest.raises(httpx.TransportError):
            httpx.get(url.replace("https", "http") + "/health", trust_env=False)


def test_clients_must_show_a_certificate_where_that_is_asked(
    herder: Mock, own: Certificate, authority: Certificate, folder: Path
) -> None:
    good = make_certificate(folder, "client", authority)
    bad = make_certificate(folder, "stranger", make_authority(folder, "others"))
    trusted = {"ca_file": str(authority.certificate)}
    with serving_tls(herder, own, authority.certificate) as url:
        shown = {"certificate": str(good.certificate), "key": str(good.key)}
        assert health(url, **trusted, **shown) == "healthy"
        for wrong in ({}, {"certificate": str(bad.certificate), "key": str(bad.key)}):
            with pytest.raises(WorkerUnreachable):
                health(url, **trusted, **wrong)


def test_files_that_cannot_be_used_are_told_before_anything_is_served(
    herder: Mock, own: Certificate, tmp_path: Path
) -> None:
    absent, certificate, key = str(tmp_path / "absent"), str(own.certificate), str(own.key)
    for tls, word in (
        (Tls(absent, key), "rest.ssl.certificate.file"),
        (Tls(certificate, certificate), "rest.ssl.key.file"),
        (Tls(certificate, key, absent), "rest.ssl.client.ca.file"),
    ):
        with pytest.raises(ConfigError, match=word):
            RestServer(create_app(herder), port=0, tls=tls)
    with pytest.raises(ConnectError, match="PENSTOCK_CA_FILE"):
        health("https://127.0.0.1:1", ca_file=absent)


def test_tls_needs_both_files() -> None:
    for key in ("rest.ssl.key.file", "rest.ssl.client.ca.file"):
        with pytest.raises(ConfigError, match=r"TLS also requires rest.ssl.certificate.file"):
            RestConfig.from_properties({key: "x"})
    with pytest.raises(ConfigError, match=r"TLS also requires rest.ssl.key.file"):
        RestConfig.from_properties({"rest.ssl.certificate.file": "x"})


USERS = {"rest.auth.users.file": "u"}
TLS = {"rest.ssl.certificate.file": "c", "rest.ssl.key.file": "k"}


def test_clients_may_leave_their_certificate_out_only_where_that_is_said() -> None:
    for given, required in (({}, True), ({"rest.ssl.client.auth": "requested"}, False)):
        tls = RestConfig.from_properties({**TLS, **given}).tls
        assert tls is not None
        assert tls.client_required is required
    with pytest.raises(ConfigError, match=r"rest\.ssl\.client\.auth"):
        RestConfig.from_properties({**TLS, "rest.ssl.client.auth": "none"})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "worker.example"])  # noqa: S104 (not bound)
@pytest.mark.parametrize(
    ("given", "lacking"),
    [
        ({}, ["rest.auth.users.file", "rest.ssl.certificate.file"]),
        (USERS, ["rest.ssl.certificate.file"]),
        (TLS, ["rest.auth.users.file"]),
    ],
)
def test_other_addresses_want_users_and_tls(
    host: str, given: dict[str, str], lacking: list[str]
) -> None:
    config = RestConfig.from_properties(given)
    with pytest.raises(ConfigError) as refused:
        config.refuse_exposure(host, insecure=False)
    assert all(key in str(refused.value) for key in (*lacking, "--insecure", "--host"))
    config.refuse_exposure(host, insecure=True)
    RestConfig.from_properties({**USERS, **TLS}).refuse_exposure(host, insecure=False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_wants_nothing(host: str) -> None:
    RestConfig().refuse_exposure(host, insecure=False)


def test_names_of_the_worker_are_hosts() -> None:
    given = {"rest.allowed.hosts": "a.example,b", "rest.advertised.host.name": "w.example"}
    assert RestConfig.from_properties(given).host_names == {"a.example", "b", "w.example"}
    assert RestConfig.from_properties({}).host_names == {"localhost"}


def test_a_token_is_not_sent_where_others_could_read_it() -> None:
    with pytest.raises(ConnectError, match="not encrypted") as refused:
        ConnectClient("http://worker.example:8083", credentials=Credentials(token="ann.secret"))
    assert "ann.secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("token", "header"),
    [("ann.s:x", "Bearer ann.s:x"), ("ann:s.x", "Basic YW5uOnMueA=="), ("", None)],
)
def test_tokens_as_they_are_sent(token: str, header: str | None) -> None:
    assert Credentials(token=token).headers().get("Authorization") == header
    assert not token or token not in repr(Credentials(token=token))
