"""Plugins as a third party brings them: by entry points."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugins

CODE = """
from penstock.sdk import ConfigDef, SinkConnector, SourceConnector

class Common:
    config_def = ConfigDef()
    def task_configs(self, max_tasks):
        return []

class OrdersSourceConnector(Common, SourceConnector):
    version = "2.1"
    connect_class = "com.acme.OrdersSourceConnector"

class LedgerSink(Common, SinkConnector):
    pass

class Inner:
    class OrdersSourceConnector(Common, SourceConnector):
        pass

NOT_A_CLASS = 3
"""

Install = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a distribution with these entry points on the path; the name of its module."""

    def put(code: str = CODE, group: str = "penstock.connectors", **points: str) -> str:
        module = f"acme_{uuid.uuid4().hex}"
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        lines = [f"{name} = {module}:{target}" for name, target in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
        monkeypatch.syspath_prepend(str(tmp_path))
        return module

    return put


def test_the_names_of_a_connector_that_stands_in_for_a_java_class(install: Install) -> None:
    module = install(orders="OrdersSourceConnector")
    plugins = Plugins()
    found = plugins.connector("com.acme.OrdersSourceConnector")
    assert found.to_json() == {
        "class": "com.acme.OrdersSourceConnector",
        "type": "source",
        "version": "2.1",
    }
    for alias in ("OrdersSourceConnector", "OrdersSource", f"{module}.OrdersSourceConnector"):
        assert plugins.connector(alias) == found


def test_a_connector_of_its_own_is_listed_by_its_python_name(install: Install) -> None:
    module = install(ledger="LedgerSink")
    found = Plugins().connector("LedgerSink")
    assert found.to_json() == {"class": f"{module}.LedgerSink", "type": "sink"}


def test_an_alias_of_two_connectors(install: Install) -> None:
    module = install(one="OrdersSourceConnector", two="Inner.OrdersSourceConnector")
    plugins = Plugins()
    with pytest.raises(BadRequest) as refused:
        plugins.connector("OrdersSource")
    assert str(refused.value) == (
        "More than one connector matches alias OrdersSource: "
        f"{module}.Inner.OrdersSourceConnector, com.acme.OrdersSourceConnector"
    )
    assert plugins.connector("com.acme.OrdersSourceConnector").version == "2.1"


def test_a_connector_that_two_entry_points_name_is_one_connector(install: Install) -> None:
    install(one="OrdersSourceConnector", two="OrdersSourceConnector")
    plugins = Plugins()
    assert plugins.connector("OrdersSource").version == "2.1"
    listed = [p.class_name for p in plugins.connectors]
    assert listed.count("com.acme.OrdersSourceConnector") == 1


def test_an_unknown_connector_is_answered_with_those_there_are(install: Install) -> None:
    install(orders="OrdersSourceConnector")
    plugins = Plugins()
    with pytest.raises(BadRequest) as refused:
        plugins.connector("Orders")
    text = str(refused.value)
    assert text.startswith(
        "Failed to find any class that implements Connector and which name matches Orders, "
        "available connectors are: "
    )
    assert "com.acme.OrdersSourceConnector" in text
    assert "org.apache.kafka.connect.file.FileStreamSourceConnector" in text


@pytest.mark.parametrize(
    ("code", "target"),
    [
        ("raise RuntimeError('half installed')", "Anything"),
        ("import a_module_that_nobody_has", "Anything"),
        (CODE, "Missing"),
        (CODE, "NOT_A_CLASS"),
        (CODE, "ConfigDef"),
    ],
)
def test_a_broken_plugin_is_named_in_the_log_and_left_out(
    install: Install, caplog: pytest.LogCaptureFixture, code: str, target: str
) -> None:
    before = {p.class_name for p in Plugins().connectors}
    module = install(code, broken=target)
    caplog.set_level(logging.ERROR)
    assert {p.class_name for p in Plugins().connectors} == before
    assert f"plugin broken ({module}:{target})" in caplog.text


def test_the_kinds_come_in_kafka_connects_order() -> None:
    plugins = Plugins()
    types = [plugin.type for plugin in plugins.all()]
    assert list(dict.fromkeys(types)) == [
        *("sink", "source", "transformation", "predicate", "converter", "header_converter")
    ]
    assert [p.type for p in plugins.connectors] == sorted(p.type for p in plugins.connectors)


def test_converters_and_transforms_answer_to_all_their_names() -> None:
    plugins = Plugins()
    converter = plugins.converter("org.apache.kafka.connect.json.JsonConverter")
    assert converter is not None
    assert plugins.converter("JsonConverter") == converter
    assert plugins.converter("penstock.columnar.json_converter.JsonConverter") == converter
    assert plugins.converter("RegexRouter") is None
    transform = plugins.transform("org.apache.kafka.connect.transforms.RegexRouter")
    assert transform is not None
    assert plugins.transform("RegexRouter") == transform
    assert plugins.transform("JsonConverter") is None
