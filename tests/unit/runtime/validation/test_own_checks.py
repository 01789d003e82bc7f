"""A connector's own checks, in a process that can be killed."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.runtime import callbacks
from penstock.runtime.callbacks import CallbackHangs
from penstock.runtime.validation import check_process, own_checks
from penstock.runtime.validation.own_checks import OwnChecks
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
        while "until" in config and not os.path.exists(config["until"]):
            time.sleep(0.01)
        if config.get("do") == "die":
            os._exit(3)
        if config.get("do") == "raise":
            raise ConfigError("no such host")
        if config.get("do") == "raise oddly":
            raise RuntimeError(lambda: None)
        print("printed by a connector")
        return [("key", f"checked in {os.getpid()}")]

class Another(Checked):
    pass

class Third(Checked):
    pass
"""


Children = Callable[[], list[psutil.Process]]


@pytest.fixture
def checked(connectors: Any) -> Any:
    return connectors.Checked


@pytest.fixture
def connectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Connectors that this process and its children can import."""
    (tmp_path / "checked_connector.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path.strip(os.pathsep))
    import checked_connector  # type: ignore[import-not-found]  # written by this test

    yield checked_connector
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


@pytest.fixture
def hanging(tmp_path: Path, checks: OwnChecks) -> Iterator[Callable[..., list[Future[Any]]]]:
    """Has checks of these classes begin, which return when the test is over."""
    until = tmp_path / "until"
    with ThreadPoolExecutor(10) as pool:
        try:
            yield lambda *of: [pool.submit(checks, cls, {"until": str(until)}) for cls in of]
        finally:
            until.touch()


def test_checks_of_one_class_that_hang_leave_places_for_others(
    checks: OwnChecks,
    connectors: Any,
    hanging: Any,
    monkeypatch: pytest.MonkeyPatch,
    children: Children,
) -> None:
    asked = hanging(*[connectors.Checked] * own_checks.MOST_AT_ONCE)
    eventually(lambda: len(children()) == own_checks.MOST_OF_ONE, within=20)
    assert checks(connectors.Another, {})
    assert not any(each.done() for each in asked)
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.2)
    text = "of Checked waits for an earlier check of Checked: callback does"
    with pytest.raises(CallbackHangs, match=text):
        checks(connectors.Checked, {})


def test_who_has_to_wait_is_told_for_whom(
    checks: OwnChecks,
    connectors: Any,
    hanging: Any,
    monkeypatch: pytest.MonkeyPatch,
    children: Children,
) -> None:
    asked = hanging(*[connectors.Checked, connectors.Another] * own_checks.MOST_OF_ONE)
    eventually(lambda: len(children()) == own_checks.MOST_AT_ONCE, within=30)
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.2)
    text = r"of Third waits for an earlier check of (Checked|Another): "
    with pytest.raises(CallbackHangs, match=text):
        checks(connectors.Third, {})
    assert not any(each.done() for each in asked)


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
    from penstock.plugins.files.file_source import FileStreamSourceConnector

    config: Mapping[str, str] = {"file": "/a", "file.glob": "/b/*", "topic": "t"}
    errors: Sequence[tuple[str, str]] = checks(FileStreamSourceConnector, config)
    assert errors
    assert children() == []
