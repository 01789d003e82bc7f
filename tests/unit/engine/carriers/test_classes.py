"""Every plugin's classes have a name that finds them again, in a carrier's process."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.engine.carriers import classes
from penstock.engine.carriers.codec import CodecError
from penstock.plugins.objects.sink_task import ObjectSinkTask

CONNECTORS, CONVERTERS = "penstock.connectors", "penstock.converters"
BROKEN = EntryPoint("Broken", "nowhere_at_all:Connector", CONNECTORS)


@pytest.mark.parametrize(
    "point", classes._points(), ids=lambda point: f"{point.group}/{point.name}"
)
def test_every_installed_plugin_is_found_by_its_name(point: EntryPoint) -> None:
    plugin = point.load()
    named = [plugin, plugin.task_class] if point.group == CONNECTORS else [plugin]
    for cls in named:
        assert classes.load(classes.name_of(cls)) is cls


def test_the_built_in_connectors_are_among_them() -> None:
    assert {"FileStreamSource", "JdbcSink", "ObjectSource"} <= entry_points(group=CONNECTORS).names


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(*points: EntryPoint) -> None:
        monkeypatch.setattr(classes, "_points", lambda: points)
        monkeypatch.setattr(classes, "_found", {})
        monkeypatch.setattr(classes, "name_of", classes.name_of.__wrapped__)
        monkeypatch.setattr(
            classes,
            "entry_points",
            lambda group, name: [p for p in points if (p.group, p.name) == (group, name)],
        )

    return install


@pytest.mark.parametrize(
    ("group", "value", "cls"),
    [
        (CONVERTERS, "penstock.columnar.json_converter:JsonConverter [avro]", JsonConverter),
        (CONVERTERS, "json_here:Renamed", JsonConverter),
        (
            CONNECTORS,
            "penstock.plugins.objects.sink_connector:ObjectSinkConnector [s3]",
            ObjectSinkTask,
        ),
    ],
    ids=["with an extra", "from another module", "a task, with an extra"],
)
def test_a_plugin_is_found_however_its_entry_point_is_written(
    install: Any, monkeypatch: pytest.MonkeyPatch, group: str, value: str, cls: type
) -> None:
    module = ModuleType("json_here")
    module.__dict__["Renamed"] = JsonConverter
    monkeypatch.setitem(sys.modules, "json_here", module)
    install(BROKEN, EntryPoint("Mine", value, group))
    assert classes.load(classes.name_of(cls)) is cls


def test_a_plugin_that_lacks_something_here_says_so(install: Any) -> None:
    install(BROKEN)
    with pytest.raises(CodecError, match=r"No module named 'nowhere_at_all'. Install the plugin"):
        classes.load(f"{CONNECTORS}/Broken/task/1")


def test_what_is_installed_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a hundred leases that begin together keep their carrier from saying that it lives."""
    asked: list[str] = []

    def counted(**wanted: str) -> Any:
        asked.append(wanted["name"])
        return entry_points(**wanted)

    monkeypatch.setattr(classes, "entry_points", counted)
    monkeypatch.setattr(classes, "_found", {})
    name = classes.name_of(JsonConverter)
    assert {classes.load(name) for _ in range(100)} == {JsonConverter}
    assert asked == ["JsonConverter"]
