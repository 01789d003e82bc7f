"""What only one connector of a cluster may write to."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.plugins.files.file_sink import FileStreamSinkConnector
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation import exclusive_targets
from penstock.runtime.validation.exclusive_targets import ExclusiveTargets
from penstock.sdk.errors import ConfigError


def sink(file: Path | str) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "topics": "t", "file": str(file)}


def source(file: Path) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "topic": "t", "file": str(file)}


def targets(stored: Mapping[str, dict[str, str]], rules: Rules | None = None) -> ExclusiveTargets:
    configs: Any = SimpleNamespace(names=lambda: sorted(stored), config=stored.get)
    return ExclusiveTargets(configs, Plugins(), rules or Rules())


def refusal(found: ExclusiveTargets, name: str, config: dict[str, str]) -> str:
    with pytest.raises(BadRequest) as refused, found.claimed(name, config):
        pass
    return str(refused.value)


def test_a_second_sink_of_a_file_is_refused_and_told_of_the_first(tmp_path: Path) -> None:
    found = targets({"first": sink(tmp_path / "out"), "other": source(tmp_path / "in")})
    assert refusal(found, "second", sink(tmp_path / "out")) == (
        "'file' is the target of connector first, and only one connector may write there. Set "
        "another 'file', or delete connector first."
    )


def test_whatever_name_the_file_goes_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("out")
    (tmp_path / "folder").symlink_to(".")
    for name in ("out", "./out", "link", "folder/out", f"{tmp_path}/folder/folder/out"):
        found = targets({"first": sink(name)})
        assert "connector first" in refusal(found, "second", sink(tmp_path / "out")), name


def test_and_whatever_refers_to_it(tmp_path: Path) -> None:
    file = tmp_path / "paths.properties"
    file.write_text(f"out={tmp_path}/out\n")
    rules = Rules(Providers({"file": FileProvider(AllowedPaths((str(tmp_path),)))}))
    referring = sink(f"${{file:{file}:out}}")
    plain = sink(tmp_path / "out")
    assert "connector first" in refusal(targets({"first": referring}, rules), "second", plain)
    assert "connector first" in refusal(targets({"first": plain}, rules), "second", referring)


def test_what_is_allowed(tmp_path: Path) -> None:
    """Itself, another file, a source of the same file, and what is not installed any more."""
    gone = {**sink(tmp_path / "out"), "connector.class": "Gone"}
    found = targets({"mine": sink(tmp_path / "out"), "gone": gone})
    for name, config in (
        ("mine", {**sink(tmp_path / "out"), "topics": "u"}),
        ("second", sink(tmp_path / "out2")),
        ("second", source(tmp_path / "out")),
    ):
        with found.claimed(name, config):
            found.refuse_taken(name, config)


def test_of_two_that_are_being_stored_one_is_refused(tmp_path: Path) -> None:
    found = targets({})
    with found.claimed("first", sink(tmp_path / "out")):
        assert "connector first" in refusal(found, "second", sink(tmp_path / "out"))
    with found.claimed("second", sink(tmp_path / "out")):
        pass


def test_of_two_that_are_stored_one_starts(tmp_path: Path) -> None:
    both = {name: sink(tmp_path / "out") for name in ("first", "second")}
    found = targets(both)
    found.refuse_taken("first", both["first"])
    with pytest.raises(ConfigError, match="the target of connector first"):
        found.refuse_taken("second", both["second"])


@pytest.mark.parametrize("kind", ["raises", "hangs"])
def test_a_connector_that_misbehaves_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    released = threading.Event()

    def misbehave(*_: Any) -> Mapping[str, str]:
        if kind == "raises":
            raise KeyError("defect")
        released.wait(60)
        return {}

    monkeypatch.setattr(exclusive_targets, "STOP_SECONDS", 0.05)
    monkeypatch.setattr(FileStreamSinkConnector, "exclusive_targets", misbehave)
    with targets({"a": sink(tmp_path / "out")}).claimed("b", sink(tmp_path / "out")):
        released.set()


class Meanwhile(list[str]):
    """Names of connectors; whenever it is asked for one, another thread learns of a new one."""

    def __init__(self, names: list[str], found: ExclusiveTargets) -> None:
        super().__init__(names)
        self._found = found

    def __contains__(self, name: object) -> bool:
        self._found._known[f"new-{len(self._found._known)}"] = {}, 0.0, {}
        return super().__contains__(name)


def test_connectors_that_start_at_the_same_moment(tmp_path: Path) -> None:
    stored = {name: sink(tmp_path / name) for name in ("a", "b", "c")}
    found = targets(stored)
    found.refuse_taken("c", stored["c"])
    names: Any = lambda: Meanwhile(sorted(stored), found)  # noqa: E731 (replaces one)
    found._configs.names = names  # type: ignore[method-assign]  # a list that changes
    found.refuse_taken("c", stored["c"])
