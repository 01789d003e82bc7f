"""Commands and a worker that asks who they are: secrets, tokens, notes and the bind."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest

from certificates import make_authority, make_certificate
from penstock.cli.running import Running
from penstock.rest import RestServer, create_app
from penstock.rest.access import hashed_secrets
from penstock.rest.access.protection import Protection
from penstock.rest.access.users import read_users
from penstock.runtime.config.rest_config import RestConfig, Tls

Run = Callable[..., Any]
SECRET = "a secret of some length"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashed_secrets, "LOG_N", 10)


@pytest.fixture
def users(home: Path) -> Path:
    file = home / "users"
    file.write_text(f"ann:read:{hashed_secrets.hashed(SECRET)}\n")
    return file


@pytest.fixture
def guarded(herder: Mock, users: Path, home: Path) -> Iterator[tuple[RestServer, Protection, Path]]:
    """A worker with users and TLS, its protection and its certificate."""
    herder.plugins.return_value = []
    protection = Protection.of(RestConfig(users_file=str(users)))
    own = make_certificate(home, "worker", make_authority(home, "authority"))
    tls = Tls(str(own.certificate), str(own.key))
    server = RestServer(create_app(herder, protection=protection), port=0, tls=tls)
    server.start()
    yield server, protection, own.certificate
    server.stop()


def note(server: RestServer, protection: Protection, certificate: Path) -> Running:
    me = psutil.Process()
    left = Running(
        server.url, "k:1", me.pid, "/d", me.create_time(), protection.token, str(certificate)
    )
    left.write()
    return left


def test_the_secret_is_asked_for_and_the_line_is_one_of_a_users_file(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(SECRET + "\n"))
    result = run("hash-secret", "bob", "--role", "operate")
    assert (result.code, result.err) == (0, "")
    assert SECRET not in result.out
    file = home / "made"
    file.write_text(result.out)
    user = read_users(file).by_name["bob"]
    assert user.role.word == "operate"
    assert hashed_secrets.matches(SECRET, user.hash)


def test_a_made_secret_is_shown_once_as_a_token(run: Run) -> None:
    result = run("hash-secret", "bob", "--generate")
    token = result.err.strip().removeprefix("PENSTOCK_TOKEN=")
    name, _, secret = token.partition(".")
    assert name == "bob"
    assert len(secret) > 30
    assert hashed_secrets.matches(secret, result.out.strip().split(":", 2)[2])


@pytest.mark.parametrize(
    ("name", "secret", "code", "words"),
    [("bob", "short", 1, "at least 12 characters"), ("b.b", SECRET, 2, "a name has only")],
)
def test_secrets_and_names_that_will_not_do(
    run: Run, monkeypatch: Any, name: str, secret: str, code: int, words: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(secret))
    result = run("hash-secret", name)
    assert result.code == code
    assert words in result.err


def test_the_environments_token(
    run: Run, guarded: tuple[RestServer, Protection, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _, certificate = guarded
    monkeypatch.setenv("PENSTOCK_CA_FILE", str(certificate))
    nobody = run("get", "plugins", "--url", server.url)
    assert nobody.code == 1
    assert "Next:  Set PENSTOCK_TOKEN to" in nobody.err
    monkeypatch.setenv("PENSTOCK_TOKEN", f"ann.{SECRET}")
    assert run("get", "plugins", "--url", server.url).code == 0
    refused = run("stop", "connector", "n", "--url", server.url)
    assert refused.code == 1
    assert "needs the role operate, and ann has the role read" in refused.err
    assert "Ask someone with that role to do it" in refused.err


@pytest.mark.parametrize("between", [".", ":"], ids=["bearer", "basic"])
def test_sql_speaks_to_any_worker_over_tls_with_credentials(
    run: Run,
    guarded: tuple[RestServer, Protection, Path],
    herder: Mock,
    monkeypatch: pytest.MonkeyPatch,
    between: str,
) -> None:
    server, _, certificate = guarded
    herder.connectors.return_value = ["c"]

    def typed(statement: str) -> Any:
        return run("sql", "--connect-url", server.url, "-e", statement)

    assert "certificate" in typed("SHOW CONNECTOR PLUGINS;").err, "whom it does not trust"
    monkeypatch.setenv("PENSTOCK_CA_FILE", str(certificate))
    assert typed("SHOW CONNECTOR PLUGINS;").code == 1, "who it is, is not told"
    monkeypatch.setenv("PENSTOCK_TOKEN", f"ann{between}{SECRET}")
    shown = typed("SHOW CONNECTOR PLUGINS;")
    assert (shown.code, shown.err) == (0, "")
    refused = typed("STOP CONNECTOR c;")
    assert refused.code == 1
    assert SECRET not in refused.out + refused.err
    assert "ann has the role read" in refused.err


def test_the_users_own_worker_is_open_to_its_commands(
    run: Run, guarded: tuple[RestServer, Protection, Path], herder: Mock
) -> None:
    note(*guarded)
    result = run("get", "plugins")
    assert (result.code, result.err) == (0, "")
    assert run("delete", "connector", "n", "--url", guarded[0].url).code == 0
    herder.delete.assert_called_once_with("n")


def test_a_noted_token_goes_to_no_other_worker(
    run: Run, guarded: tuple[RestServer, Protection, Path], herder: Mock
) -> None:
    note(*guarded)
    seen: list[str | None] = []

    async def other(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        seen.append(headers.get(b"authorization"))
        await create_app(herder)(scope, receive, send)

    server = RestServer(other, port=0)
    server.start()
    assert run("get", "plugins", "--url", server.url).code == 0
    server.stop()
    assert seen == [None]


def test_notes_are_for_the_users_eyes_only(
    guarded: tuple[RestServer, Protection, Path],
) -> None:
    before = os.umask(0)
    try:
        left = note(*guarded)
    finally:
        os.umask(before)
    assert stat.S_IMODE(left.note.stat().st_mode) == 0o600
    assert json.loads(left.note.read_text())["token"] == guarded[1].token
    assert guarded[1].token not in repr(left)


@pytest.mark.parametrize("options", [[], ["--worker-config", "users-only"]])
def test_up_refuses_to_open_the_door(
    run: Run, home: Path, users: Path, monkeypatch: Any, options: list[str]
) -> None:
    monkeypatch.chdir(home)
    Path("users-only").write_text(f"rest.auth.users.file={users}\n")
    data = str(home / "data")
    result = run("up", "--host", "0.0.0.0", "--port", "0", "--data-dir", data, *options)  # noqa: S104 (refused)
    assert result.code == 1
    assert "Other machines could reach the REST API on 0.0.0.0" in result.err
    assert "add --insecure" in result.err
