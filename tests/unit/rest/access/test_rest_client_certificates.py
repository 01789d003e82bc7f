"""A client certificate as an identity: whose it is, what that one may, and what cannot stand in."""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest

from certificates import LOOPBACK, Certificate, make_authority, make_certificate, subject_of
from config_herder import config_herder
from penstock.rest import RestServer, create_app
from penstock.rest.access import hashed_secrets
from penstock.rest.access.caller import ANYBODY, Caller, Role
from penstock.rest.access.certificate_names import ClientCertificate
from penstock.rest.access.hashed_secrets import hashed
from penstock.rest.access.peers import peers_of, signed_for
from penstock.rest.access.protection import Protection
from penstock.rest.access.users import read_users
from penstock.runtime.config.rest_config import RestConfig, Tls
from penstock.sdk.errors import ConfigError

SECRET = "correct horse"
CONFIG = {"connector.class": "ScriptedSource"}
PUT = "/connectors/n/config"
SPIFFE = "spiffe://example/ci"
PRETENCES = {
    "X-SSL-Client-Cert": "{pem}",
    "X-SSL-Client-S-DN": "CN=operator",
    "X-Client-Cert": "{pem}",
    "X-Forwarded-Client-Cert": 'Subject="CN=operator";By=x;Hash=x',
    "Client-Cert": ":{pem}:",
    "X-Forwarded-User": "operator",
    "Remote-User": "operator",
    "penstock.client_certificate": "operator",
}
Connect = Callable[..., httpx.Client]
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed_secrets, "LOG_N", 10)


@pytest.fixture(scope="module")
def own(folder: Path, authority: Certificate) -> Certificate:
    return make_certificate(folder, "worker", authority)


@pytest.fixture(scope="module")
def viewer(folder: Path, authority: Certificate) -> Certificate:
    return make_certificate(folder, "viewer", authority)


@pytest.fixture(scope="module")
def operator(folder: Path, authority: Certificate) -> Certificate:
    names = f"{LOOPBACK},DNS:CI.Example,URI:{SPIFFE}"
    return make_certificate(folder, "operator", authority, "/O=Example, Ltd/CN=operator", names)


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users"
    ops = "ops:operate:cert:CN=operator,O=Example\\, Ltd"
    file.write_text(f"viewer:read:cert\n{ops}\nann:read:{hashed(SECRET)}\n")
    return file


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Lines:
    caplog.set_level(logging.INFO, "penstock.audit")
    return lambda: [
        json.loads(record.getMessage())
        for record in caplog.records
        if record.name == "penstock.audit"
    ]


@contextmanager
def listening(tls: Tls | None, users: Path) -> Iterator[str]:
    herder: Mock = config_herder(n=CONFIG)
    herder.verified.return_value = None
    app = create_app(herder, protection=Protection.of(RestConfig(users_file=str(users))))
    server = RestServer(app, port=0, tls=tls)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


@pytest.fixture(params=["required", "requested"])
def connect(
    request: pytest.FixtureRequest, own: Certificate, authority: Certificate, users: Path
) -> Iterator[Connect]:
    """Clients, with a certificate or without, of a worker that asks for one."""
    trusted = str(authority.certificate)
    required = request.param == "required"
    tls = Tls(str(own.certificate), str(own.key), trusted, client_required=required)
    with listening(tls, users) as url:

        def client(shown: Certificate | None = None, **options: Any) -> httpx.Client:
            context = ssl.create_default_context(cafile=trusted)
            if shown:
                context.load_cert_chain(shown.certificate, shown.key)
            return httpx.Client(base_url=url, verify=context, trust_env=False, **options)

        yield client


requested_only = pytest.mark.parametrize("connect", ["requested"], indirect=True)


def test_a_viewers_certificate_looks_and_changes_nothing(
    connect: Connect, viewer: Certificate, lines: Lines
) -> None:
    with connect(viewer) as http:
        assert http.get(PUT).json() == CONFIG
        refused = http.put(PUT, json=CONFIG)
    assert refused.status_code == 403
    assert "needs the role operate, and viewer has the role read" in refused.json()["message"]
    (line,) = lines()
    told = (line["who"], line["certificate"], line["outcome"])
    assert told == ("viewer", "CN=viewer", "refused: 403")


def test_an_operators_certificate_changes_connectors_and_not_the_worker(
    connect: Connect, operator: Certificate, lines: Lines
) -> None:
    with connect(operator) as http:
        assert http.put(PUT, json=CONFIG).status_code == 200
        assert http.put("/admin/loggers/root", json={"level": "INFO"}).status_code == 403
    change, refusal = lines()
    assert (change["what"], change["who"]) == ("put config", "ops")
    assert change["certificate"] == refusal["certificate"] == "CN=operator,O=Example\\, Ltd"


def test_a_certificate_of_another_authority_is_refused_by_tls(
    connect: Connect, folder: Path
) -> None:
    stranger = make_certificate(
        folder, "viewer-too", make_authority(folder, "others"), "/CN=viewer"
    )
    with connect(stranger) as http, pytest.raises(httpx.TransportError):
        http.get("/health")


@pytest.mark.parametrize(
    "field",
    ["cert:CN=operator,O=Example\\, Ltd", "cert", f"cert:URI:{SPIFFE}", "cert:DNS:ci.example"],
)
def test_the_names_that_a_line_may_use(
    connect: Connect, operator: Certificate, users: Path, field: str
) -> None:
    users.write_text(f"operator:operate:{field}\n")
    with connect(operator) as http:
        assert http.put(PUT, json=CONFIG).status_code == 200


@pytest.mark.parametrize(
    "line",
    [
        "operator:operate:cert:CN=operator",
        "operator:operate:cert:O=Example\\, Ltd,CN=operator",
        "operator:operate:cert:URI:spiffe://example",
        "operator:operate:cert:DNS:operator",
        "ops:operate:cert",
    ],
)
def test_a_part_of_a_name_or_another_kind_of_name_is_not_it(
    connect: Connect, operator: Certificate, users: Path, line: str
) -> None:
    users.write_text(f"{line}\n")
    with connect(operator) as http:
        assert http.get("/connectors").status_code == 401


def test_a_known_certificate_goes_before_a_token(
    connect: Connect, viewer: Certificate, users: Path
) -> None:
    users.write_text(f"viewer:read:cert\nann:operate:{hashed(SECRET)}\n")
    with connect(viewer) as http:
        assert http.put(PUT, json=CONFIG, auth=("ann", SECRET)).status_code == 403
        assert http.get("/connectors", auth=("ann", "guess")).status_code == 200


def test_a_name_may_have_a_secret_and_certificates(
    connect: Connect, viewer: Certificate, own: Certificate, users: Path
) -> None:
    users.write_text(f"viewer:read:cert\nviewer:operate:{hashed(SECRET)}\n")
    with connect(viewer) as shown, connect(own) as other:
        assert shown.put(PUT, json=CONFIG).status_code == 403
        assert other.put(PUT, json=CONFIG, auth=("viewer", SECRET)).status_code == 200


def test_a_removed_line_counts_at_once(connect: Connect, viewer: Certificate, users: Path) -> None:
    with connect(viewer) as http:
        assert http.get("/connectors").status_code == 200
        users.write_text(f"ann:read:{hashed(SECRET)}\n")
        assert http.get("/connectors").status_code == 401


def test_a_certificate_of_nobody_wants_a_token_too(
    connect: Connect, own: Certificate, lines: Lines
) -> None:
    with connect(own) as http:
        refused = http.put(PUT, json=CONFIG)
        assert refused.status_code == 401
        assert "No user of this worker has the certificate of 'CN=worker'" in refused.text
        assert "PENSTOCK_TOKEN" in refused.text
        assert http.get("/connectors", auth=("ann", SECRET)).json() == ["n"]
        assert http.get("/connectors", auth=("ann", "guess")).status_code == 401
    assert [(line["who"], line["certificate"]) for line in lines()] == [("unknown", "CN=worker")]


@requested_only
def test_without_a_certificate_a_token_is_wanted(connect: Connect, lines: Lines) -> None:
    with connect() as http:
        assert http.get("/health").status_code == 200
        assert http.put(PUT, json=CONFIG).status_code == 401
        assert http.get("/connectors", auth=("ann", SECRET)).json() == ["n"]
    (line,) = lines()
    assert line["who"] == "unknown"
    assert "certificate" not in line


@requested_only
def test_no_header_stands_in_for_a_certificate(
    connect: Connect, users: Path, operator: Certificate
) -> None:
    users.write_text("operator:operate:cert\n")
    pem = operator.certificate.read_text().replace("\n", "")
    pretences = {header: value.format(pem=pem) for header, value in PRETENCES.items()}
    with connect(operator) as http:
        assert http.put(PUT, json=CONFIG).status_code == 200
    with listening(None, users) as url, connect() as tls, httpx.Client(base_url=url) as plain:
        for http in (tls, plain):
            for header, value in pretences.items():
                answer = http.put(PUT, json=CONFIG, headers={header: value})
                assert answer.status_code == 401, header
            assert http.put(PUT, json=CONFIG, headers=pretences).status_code == 401


@pytest.mark.parametrize("subject", ["/C=DE/O=Example/OU=a/OU=b/CN=ann", "/DC=org/UID=a b/L=Köln"])
def test_subjects_are_written_as_openssl_writes_them(
    folder: Path, authority: Certificate, subject: str
) -> None:
    made = make_certificate(folder, "written", authority, subject)
    decoded = ssl._ssl._test_decode_cert(str(made.certificate))  # type: ignore[attr-defined]  # CPython's own, for tests
    assert ClientCertificate.of(decoded).subject == subject_of(made)


def test_of_several_common_names_none_counts() -> None:
    name = (("commonName", "ann"),)
    assert ("CN", "ann") in ClientCertificate.of({"subject": (name,)}).identities
    assert ClientCertificate.of({"subject": (name, name)}).identities == (
        ("subject", "CN=ann,CN=ann"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ann:read:cert:", "line 1: what follows ann:read: cert is followed by nothing"),
        ("ann:read:cert:ann", "cert is followed by nothing, or by a subject"),
        ("ann:read:cert:URI:", "cert is followed by nothing, or by a subject"),
        ("ann:owner:cert", "the role of ann must be one of"),
        ("local:admin:cert", "a name has only"),
        ("ann:read:certificate", "is not a hash"),
        ("ann:read:cert\nbob:admin:cert:DNS:x\neve:read:cert:DNS:X", "bob and eve have the same"),
    ],
)
def test_wrong_lines_are_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "users"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_users(file)


def test_a_request_that_is_passed_on_keeps_its_subject() -> None:
    herder = Mock()
    caller = Caller("ann", Role.OPERATE, "fe80::1%eth0", "CN=Ann Köhler,O=a+b")
    herder.verified.return_value = signed_for(caller)
    assert herder.verified.return_value.isascii()
    seen = peers_of(herder)(Mock(headers={"X-Penstock-Worker": "w:1"}))
    assert seen == replace(caller, peer="w:1")


def test_a_request_that_is_passed_on_for_anybody_is_still_nobodys() -> None:
    """Else a worker that shows secrets to those it knows would show them to its follower's."""
    herder = Mock()
    for caller in (ANYBODY, replace(ANYBODY, address="192.0.2.1")):
        herder.verified.return_value = signed_for(caller)
        seen = peers_of(herder)(Mock(headers={"X-Penstock-Worker": "w:1"}))
        assert seen == replace(caller, peer="w:1")
        assert not seen.may_see_secrets
    herder.verified.return_value = "admin ann"
    seen = peers_of(herder)(Mock(headers={}))
    assert seen is not None
    assert not seen.known, "it does not say so"
