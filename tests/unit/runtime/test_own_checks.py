"""A connector's own checks, in a process that can be killed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.runtime import callbacks, check_process
from penstock.runtime.callbacks import CallbackHangs
from penstock.runtime.own_checks import OwnChecks
from penstock.sdk import ConfigDef
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import ConfigError, FatalError
from waiting import eventually

SOURCE = """
import os, time
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import ConfigError

class Checked(SourceConnector):
    def task_configs(self, max_tasks):
        return []

    def validate(self, config):
        if config.get("do") == "hang":
            time.sleep(3600)
        if config.get("do") == "die":
            os._exit(3)
        if config.get("do") == "raise":
            raise ConfigError("no such host")
        if config.get("do") == "raise oddly":
            raise RuntimeError(lambda: None)
        print("printed by a connector")
        return [("key", f"checked in {os.getpid()}")]
"""


Children = Callable[[], list[psutil.Process]]


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A connector that this process and its children can import."""
    (tmp_path / "checked_connector.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path.strip(os.pathsep))
    import checked_connector  # type: ignore[import-not-found]

    yield checked_connector.Checked
    del sys.modules["checked_connector"]


@pytest.fixture
def checks() -> Iterator[OwnChecks]:
    made = OwnChecks()
    yield made
    made.close()


def check_processes() -> list[psutil.Process]:
    """Those of this process, whoever started them."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended, or be about to
            if check_process.__name__ in child.cmdline():
                found.append(child)
    return found


@pytest.fixture
def children() -> Children:
    """The check processes of this test."""
    before = check_processes()
    return lambda: [child for child in check_processes() if child not in before]


def test_errors_come_from_another_process_which_is_kept(checks: OwnChecks, checked: Any) -> None:
    (key, text), *rest = checks(checked, {})
    assert (key, rest) == ("key", [])
    assert text != f"checked in {os.getpid()}"
    assert list(checks(checked, {})) == [(key, text)]


def test_what_it_raises_is_raised(checks: OwnChecks, checked: Any) -> None:
    with pytest.raises(ConfigError, match="no such host"):
        checks(checked, {"do": "raise"})
    with pytest.raises(RuntimeError, match="RuntimeError"):
        checks(checked, {"do": "raise oddly"})
    assert checks(checked, {})


def test_a_check_that_hangs_is_killed(
    checks: OwnChecks, checked: Any, monkeypatch: pytest.MonkeyPatch, children: Children
) -> None:
    assert checks(checked, {})  # the process has started, which takes longer than what follows
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.3)
    with pytest.raises(CallbackHangs, match="validating a configuration of Checked: callback does"):
        checks(checked, {"do": "hang"})
    assert children() == []


def test_a_check_that_ends_its_process(checks: OwnChecks, checked: Any) -> None:
    with pytest.raises(FatalError, match="ended its process"):
        checks(checked, {"do": "die"})
    assert checks(checked, {})


def test_a_process_that_was_killed_meanwhile_is_replaced(
    checks: OwnChecks, checked: Any, children: Children
) -> None:
    first = checks(checked, {})
    [child] = children()
    child.kill()
    child.wait(10)
    assert checks(checked, {}) != first


def test_closing_leaves_no_process(checks: OwnChecks, checked: Any, children: Children) -> None:
    checks(checked, {})
    assert len(children()) == 1
    checks.close()
    eventually(lambda: children() == [], within=10)


def test_a_connector_without_checks_needs_no_process(checks: OwnChecks, children: Children) -> None:
    class Unchecked(SourceConnector):
        config_def = ConfigDef()

        def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
            return []

    assert list(checks(Unchecked, {})) == []
    assert children() == []


def test_what_comes_with_penstock_is_asked_here(checks: OwnChecks, children: Children) -> None:
    from penstock.plugins.file_source import FileStreamSourceConnector

    config: Mapping[str, str] = {"file": "/a", "file.glob": "/b/*", "topic": "t"}
    errors: Sequence[tuple[str, str]] = checks(FileStreamSourceConnector, config)
    assert errors
    assert children() == []
