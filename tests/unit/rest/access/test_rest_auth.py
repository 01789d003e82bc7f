"""Who may do what: credentials, roles, attempts, and what is told to those who may not."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import httpx
import pytest

from audit_lines import audit_lines
from config_herder import config_herder
from penstock.rest import create_app
from penstock.rest.access import attempts, credentials, hashed_secrets
from penstock.rest.access.attempts import Attempts
from penstock.rest.access.caller import Role
from penstock.rest.access.hashed_secrets import hashed, matches
from penstock.rest.access.protection import Protection
from penstock.rest.access.users import read_users
from penstock.rest.http import limits
from penstock.runtime.config.rest_config import RestConfig
from penstock.sdk.config import HIDDEN
from penstock.sdk.errors import ConfigError
from served_app import serving
from waiting import eventually

SECRET = "correct horse:battery.staple"
CONFIG = {"connector.class": "ScriptedSource", "password": "hunter2"}
RESTART = "/connectors/n/restart"
LEVEL = {"level": "DEBUG"}


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed_secrets, "LOG_N", 10)


@pytest.fixture
def users(tmp_path: Path) -> Path:
    file = tmp_path / "users"
    lines = [f"{role.word}er:{role.word}:{hashed(SECRET)}" for role in Role]
    file.write_text("# who may\n\n" + "\n".join(lines) + "\n")
    return file


@pytest.fixture
def herder() -> Mock:
    herder = config_herder(n=CONFIG)
    herder.root.return_value = {}
    herder.loggers.return_value = {}
    herder.set_logger_level.return_value = []
    herder.restart.return_value = None
    herder.verified.return_value = None
    return herder


def protection(users: Path, *, shows_stored: bool = False) -> Protection:
    return Protection.of(RestConfig(users_file=str(users), shows_stored=shows_stored))


@pytest.fixture
def http(herder: Mock, users: Path) -> Iterator[httpx.Client]:
    with serving(create_app(herder, protection=protection(users))) as client:
        yield client


def bearer(name: str, secret: str = SECRET) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}.{secret}"}


# Who it is.


def test_health_is_open_and_all_else_is_closed(http: httpx.Client, herder: Mock) -> None:
    assert http.get("/health").status_code == 200
    for method, path in [
        ("GET", "/"),
        ("GET", "/connectors"),
        ("GET", "/openapi.json"),
        ("GET", "/no/such/path"),
        ("POST", "/health"),
        ("POST", RESTART),
        ("PUT", "/admin/loggers/root"),
    ]:
        answer = http.request(method, path)
        assert answer.status_code == 401, path
        assert answer.json()["error_code"] == 401
        assert "PENSTOCK_TOKEN" in answer.json()["message"]
        assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="penstock", Basic')
    herder.restart.assert_not_called()


def test_bearer_and_basic(http: httpx.Client) -> None:
    assert http.get("/connectors", headers=bearer("reader")).json() == ["n"]
    assert http.get("/connectors", auth=("reader", SECRET)).json() == ["n"]


@pytest.mark.parametrize(
    "header",
    [
        "Bearer reader.wrong",
        "Bearer nobody." + SECRET,
        "Bearer reader",
        "Bearer",
        "Basic !!!",
        "Basic cmVhZGVy",
        "Basic /////w==",
        "Digest reader",
        "",
    ],
)
def test_wrong_credentials(http: httpx.Client, header: str) -> None:
    answer = http.get("/connectors", headers={"Authorization": header})
    assert answer.status_code == 401
    assert SECRET not in answer.text


def test_unknown_names_are_hashed_and_refused_as_wrong_secrets_are(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashes: list[str] = []

    def watched(secret: str, stored: str) -> bool:
        hashes.append(stored)
        return matches(secret, stored)

    monkeypatch.setattr(credentials, "matches", watched)
    texts = {http.get("/", headers=bearer(name, "x")).text for name in ("nobody", "reader")}
    assert len(texts) == 1
    assert len(hashes) == 2


def test_a_right_secret_is_hashed_once(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert http.get("/connectors", headers=bearer("reader")).status_code == 200
    monkeypatch.setattr(credentials, "matches", Mock(side_effect=AssertionError))
    assert http.get("/connectors", headers=bearer("reader")).status_code == 200


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = hashed("a")
    module = Mock()
    monkeypatch.setattr(hashed_secrets, "hmac", module)
    assert matches("b", stored) is module.compare_digest.return_value


# How often.


def test_attempts_are_limited(http: httpx.Client) -> None:
    assert http.get("/", headers=bearer("operateer")).status_code == 200
    for _ in range(attempts.MOST_FAILURES):
        assert http.get("/", headers=bearer("reader", "guess")).status_code == 401
    refused = http.get("/", headers=bearer("reader"))
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    # Whoever has proved who they are is not locked out by others.
    assert http.get("/", headers=bearer("operateer")).status_code == 200
    assert http.get("/health").status_code == 200


def test_attempts_are_forgotten() -> None:
    now = [0.0]
    limit = Attempts(clock=lambda: now[0])
    waits = [limit.begin("a") for _ in range(attempts.MOST_FAILURES + 1)]
    assert waits == [0.0] * attempts.MOST_FAILURES + [attempts.WINDOW_SECONDS]
    assert limit.begin("b") == 0
    limit.succeeded("a")
    assert limit.begin("a") == 0
    now[0] = attempts.WINDOW_SECONDS
    assert limit.begin("a") == 0


# What they may.


@pytest.mark.parametrize(
    ("name", "method", "path", "allowed"),
    [
        ("reader", "GET", "/connectors/n/config", True),
        ("reader", "GET", "/admin/loggers", True),
        ("reader", "POST", RESTART, False),
        ("reader", "PUT", "/connectors/n/stop", False),
        ("reader", "DELETE", "/connectors/n/offsets", False),
        ("reader", "PUT", "/connector-plugins/X/config/validate", False),
        ("operateer", "POST", RESTART, True),
        ("operateer", "PUT", "/connectors/n/stop", True),
        ("operateer", "PUT", "/admin/loggers/root", False),
        ("operateer", "PUT", "/admin", False),
        ("adminer", "PUT", "/admin/loggers/root", True),
        ("adminer", "POST", RESTART, True),
    ],
)
def test_roles(http: httpx.Client, name: str, method: str, path: str, allowed: bool) -> None:
    answer = http.request(method, path, json=LEVEL, headers=bearer(name))
    if allowed:
        assert answer.is_success
        return
    assert answer.status_code == 403
    role = "admin" if path.startswith("/admin") else "operate"
    assert f"needs the role {role}, and {name} has the role" in answer.json()["message"]


def test_stored_secrets_are_for_known_operators(herder: Mock, users: Path) -> None:
    app = create_app(herder, protection=protection(users, shows_stored=True))
    with serving(app) as http:
        shown = {
            role: http.get("/connectors/n/config", headers=bearer(f"{role.word}er")).json()
            for role in Role
        }
    assert shown[Role.READ] == {**CONFIG, "password": HIDDEN}
    assert shown[Role.OPERATE] == shown[Role.ADMIN] == CONFIG
    with serving(create_app(herder, protection=Protection(shows_stored=True))) as http:
        assert http.get("/connectors/n/config").json() == {**CONFIG, "password": HIDDEN}


def test_stored_secrets_need_users() -> None:
    with pytest.raises(ConfigError, match=r"which requires rest.auth.users.file"):
        RestConfig.from_properties({"rest.config.secrets": "stored"})


# Peers, and the machine's own commands.


def test_signed_requests_of_peers_pass_as_those_they_were_signed_for(
    herder: Mock, users: Path
) -> None:
    def verified(method: str, target: str, body: bytes, _: object) -> str | None:
        good = body == json.dumps(LEVEL, separators=(",", ":")).encode()
        return "admin far" if good and (method, target) == ("PUT", "/admin/loggers/root") else None

    herder.verified.side_effect = verified
    signed = in_form("whatever")
    with serving(create_app(herder, protection=protection(users)), headers=signed) as http:
        assert http.put("/admin/loggers/root", json=LEVEL).status_code == 200
        assert http.put("/admin/loggers/root", json={"level": "INFO"}).status_code == 403
    herder.set_logger_level.assert_called_once_with("root", "DEBUG")


def test_a_signature_that_nobody_verifies_is_none(http: httpx.Client) -> None:
    for forged in ({"X-Connect-Authorization": "x"}, in_form("x")):
        assert http.get("/", headers=forged).status_code == 403
        assert http.get("/", headers={**forged, **bearer("reader")}).status_code == 403


def in_form(signature: str) -> dict[str, str]:
    """Headers of a request whose signature is worth looking at."""
    return {
        "X-Connect-Authorization": signature,
        "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
        "X-Penstock-Moment": str(int(time.time())),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"X-Connect-Request-Signature-Algorithm": "HmacSHA512"},
        {"X-Penstock-Moment": "1"},
        {"X-Penstock-Moment": "9" * 400},
    ],
)
def test_of_what_cannot_be_signed_no_body_is_read(
    http: httpx.Client, herder: Mock, wrong: dict[str, str]
) -> None:
    refused = dawdling(http, {**in_form("x"), **wrong})
    assert refused.startswith("HTTP/1.1 403")
    herder.verified.assert_not_called()


def test_the_body_of_a_stranger_does_not_dawdle(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    assert dawdling(http, in_form("x")).startswith("HTTP/1.1 408")


def dawdling(http: httpx.Client, headers: dict[str, str]) -> str:
    """What is answered to a request of which most is never sent."""
    host, port = http.base_url.host, http.base_url.port
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    with socket.create_connection((host, port or 0), timeout=10) as slow:
        slow.sendall(
            f"PUT /connectors/n/config HTTP/1.1\r\nHost: {host}:{port}\r\n{lines}"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
        )
        return slow.recv(4096).decode()


def test_a_change_that_was_passed_on_is_told_with_where_it_came_from(
    herder: Mock, users: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "penstock.audit")
    herder.verified.return_value = "operate ann  192.0.2.7 known"
    with serving(create_app(herder, protection=protection(users))) as http:
        assert http.put("/connectors/n/pause", headers=in_form("x")).status_code == 202
    (line,) = audit_lines(caplog)
    assert (line["who"], line["from"], line["what"]) == ("ann", "192.0.2.7", "pause")


def test_the_token_of_the_machines_own_commands(herder: Mock, users: Path) -> None:
    guarded = protection(users)
    assert guarded.token not in repr(guarded)
    with serving(create_app(herder, protection=guarded)) as http:
        own = {"Authorization": f"Bearer {guarded.token}"}
        assert http.put("/admin/loggers/root", json=LEVEL, headers=own).status_code == 200


# The users file.


def test_a_changed_file_counts_at_once(http: httpx.Client, users: Path) -> None:
    assert http.get("/", headers=bearer("reader")).status_code == 200
    users.write_text(f"reader:read:{hashed('another')}\nnew:read:{hashed(SECRET)}\n")
    assert http.get("/", headers=bearer("reader")).status_code == 401
    assert http.get("/", headers=bearer("new")).status_code == 200
    users.write_text("nonsense\n")
    assert http.get("/", headers=bearer("new")).status_code == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no users"),
        ("a b:read:x", "line 1: a name has only"),
        ("local:admin:x", "line 1: a name has only"),
        ("\nann:owner:{hash}", "line 2: the role of ann must be one of read, operate, admin"),
        ("ann:read", "line 1: what follows ann:read: is not a hash"),
        ("ann:read:hunter2", "is not a hash"),
        ("ann:read:scrypt$40$8$1$AAAA$AAAA", "is not a hash"),
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "users"
    file.write_text(text.replace("{hash}", hashed("x")))
    with pytest.raises(ConfigError) as told:
        read_users(file)
    assert message in str(told.value)
    assert "hunter2" not in str(told.value)


def test_a_file_that_all_may_write_or_none_can_read(tmp_path: Path, users: Path) -> None:
    users.chmod(0o646)
    with pytest.raises(ConfigError, match="Anyone may write"):
        read_users(users)
    with pytest.raises(ConfigError, match="Cannot read the users file"):
        read_users(tmp_path / "absent")


# The audit of refusals.


def test_refused_changes_are_in_the_audit(
    http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "penstock.audit")
    http.post(RESTART)
    http.post(RESTART, headers=bearer("reader"))
    http.get("/connectors")

    def audit() -> list[str]:
        return [r.getMessage() for r in caplog.records if r.name == "penstock.audit"]

    eventually(lambda: len(audit()) >= 2, within=20, what="two lines")
    lines = [json.loads(text) for text in audit()]
    told = [(line["who"], line["from"], line["what"], line["outcome"]) for line in lines]
    assert told == [
        ("unknown", "127.0.0.1", f"POST {RESTART}", "refused: 401"),
        ("reader", "127.0.0.1", f"POST {RESTART}", "refused: 403"),
    ]
