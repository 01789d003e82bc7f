"""When the cache is trusted, mended, waited for, or reported missing."""

import os
import threading
from pathlib import Path

import pytest

from fake_jars import ivy_settings, repository_at, write_complete
from free_ports import free_port
from penstock.embedded import (
    JarsUnavailable,
    Java,
    cache_folder,
    ensure_jars,
    find_java,
    jars_folder,
)
from penstock.embedded.ivy import explain
from penstock.embedded.jars import MARKER, is_complete
from penstock.embedded.locks import FileLock

NO_JAVA = Java(Path("/nowhere/java"), Path("/nowhere"), 17, "17")


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ivy_settings(
        tmp_path / "settings.xml", repository_at(f"http://127.0.0.1:{free_port()}/")
    )
    monkeypatch.setenv("PENSTOCK_IVY_SETTINGS", settings)


def test_complete_cache_needs_no_java(tmp_path: Path) -> None:
    folder = jars_folder(tmp_path)
    write_complete(folder)
    jars = ensure_jars(NO_JAVA, cache=tmp_path)
    assert jars.broker == folder / "broker"
    assert jars.spark == [folder / "spark" / "c.jar"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "broker" / "b.jar").unlink(),
        lambda folder: (folder / "spark" / "c.jar").write_bytes(b"j"),
        lambda folder: (folder / "broker" / "other.jar").write_bytes(b"jar"),
        lambda folder: (folder / MARKER).write_text('{"broker": {'),
        lambda folder: (folder / MARKER).unlink(),
    ],
    ids=["missing", "cut", "added", "marker-cut", "no-marker"],
)
def test_damage_is_noticed(tmp_path: Path, damage) -> None:
    write_complete(tmp_path / "jars")
    assert is_complete(tmp_path / "jars")
    damage(tmp_path / "jars")
    assert not is_complete(tmp_path / "jars")


def test_empty_configuration_is_not_complete(tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    (tmp_path / "spark").mkdir()
    (tmp_path / MARKER).write_text('{"broker": {}, "spark": {}}')
    assert not is_complete(tmp_path)


def test_offline_machine_is_told_what_to_do(tmp_path: Path, offline: None) -> None:
    cache = tmp_path / "cache"
    leftover = cache / f"{jars_folder(cache).name}.part-old"
    (leftover / ".ivy").mkdir(parents=True)
    with pytest.raises(JarsUnavailable) as raised:
        ensure_jars(find_java(), cache=cache)
    message = str(raised.value)
    assert "module not found: org.apache.kafka#kafka_2.13;4.3.1" in message
    assert "Connection refused" in message
    assert f"copy the folder {jars_folder(cache)}" in message
    assert "PENSTOCK_CACHE_DIR" in message
    assert "Traceback" not in message
    assert [path.suffix for path in cache.iterdir()] == [".lock"]


def test_damaged_cache_is_downloaded_anew(tmp_path: Path, offline: None) -> None:
    write_complete(jars_folder(tmp_path))
    (jars_folder(tmp_path) / "spark" / "c.jar").unlink()
    messages: list[str] = []
    with pytest.raises(JarsUnavailable):
        ensure_jars(find_java(), messages.append, tmp_path)
    assert messages[0].startswith("downloading jars")


def test_second_process_waits_and_uses_what_the_first_brought(tmp_path: Path) -> None:
    folder = jars_folder(tmp_path)
    first = FileLock(folder.with_suffix(".lock"))
    assert first.try_acquire()
    waits = threading.Event()
    messages: list[str] = []

    def progress(message: str) -> None:
        messages.append(message)
        waits.set()

    second = threading.Thread(target=ensure_jars, args=(NO_JAVA, progress, tmp_path))
    second.start()
    assert waits.wait(10)
    write_complete(folder)
    first.release()
    second.join(10)
    assert not second.is_alive()
    assert messages == [f"waiting for process {os.getpid()}, which downloads the jars"]


def test_unusable_cache_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JarsUnavailable, match="set PENSTOCK_CACHE_DIR"):
        ensure_jars(NO_JAVA, cache=tmp_path / "file")


def test_cache_folder_by_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PENSTOCK_CACHE_DIR", raising=False)
    assert cache_folder() == tmp_path / "penstock"
    monkeypatch.setenv("PENSTOCK_CACHE_DIR", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_mirror_credentials_are_not_shown() -> None:
    line = "Server access error at url https://me:secret@mirror/x.pom (java.net.X)"
    assert (
        explain(f"....\n{line}\n") == "Server access error at url https://mirror/x.pom (java.net.X)"
    )
