"""PostgreSQL as a child process."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from penstock.embedded import postgres_binaries
from penstock.embedded.errors import EmbeddedError
from penstock.embedded.postgres import EmbeddedPostgres
from penstock.embedded.postgres_binaries import program


def test_what_is_committed_outlives_a_stop_and_a_kill() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data") as server:
            with psycopg.connect(server.uri) as link:
                link.execute("CREATE TABLE kept AS SELECT 1 AS n")
            server.stop()
            assert not server.alive()
            server.start()
            with psycopg.connect(server.uri) as link:
                link.execute("INSERT INTO kept VALUES (2)")
            server.kill()
            server.start()
            with psycopg.connect(server.uri) as link:
                assert link.execute("SELECT n FROM kept ORDER BY n").fetchall() == [(1,), (2,)]


def test_it_asks_for_the_password(postgres: EmbeddedPostgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(postgres.uri.replace(postgres.password, "wrong"))


def test_a_second_start_and_a_missing_installation_say_what_is_the_matter(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbeddedError, match="already running"):
        postgres.start()
    monkeypatch.setattr("penstock.embedded.postgres_binaries.PACKAGE", "no_such_package")
    with pytest.raises(EmbeddedError, match=r"penstock\[demo,postgres,sql,worker\]"):
        program("postgres")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's PostgreSQL becomes another user's")
def test_programs_in_a_closed_folder_are_copied_to_an_open_one(tmp_path: Path) -> None:
    package = tmp_path / postgres_binaries.PACKAGE
    (package / postgres_binaries.INSTALLED / "bin").mkdir(parents=True)
    (package / postgres_binaries.INSTALLED / "bin" / "initdb").write_text("a program")
    tmp_path.chmod(0o700)
    found = postgres_binaries._open_to_others(package)
    assert (found / postgres_binaries.INSTALLED / "bin" / "initdb").read_text() == "a program"
    assert all(above.stat().st_mode & 0o001 for above in found.parents)
    assert postgres_binaries._open_to_others(package) == found, "once in a process"
