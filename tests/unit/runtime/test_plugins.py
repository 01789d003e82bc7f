"""Plugins as a third party brings them: by entry points."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.runtime.errors import BadRequest, NotFound
from penstock.runtime.own_answers import OwnAnswers
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
    aliases = ("com.other.PurchasesSourceConnector",)

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


def test_a_connector_stands_in_for_several_classes(install: Install) -> None:
    install(orders="OrdersSourceConnector")
    plugins = Plugins()
    found = plugins.connector("com.acme.OrdersSourceConnector")
    for alias in ("com.other.PurchasesSourceConnector", "PurchasesSourceConnector"):
        assert plugins.connector(alias) == found
    assert [p.class_name for p in plugins.connectors].count(found.class_name) == 1


def test_a_name_that_differs_only_in_case_is_found(install: Install) -> None:
    install(orders="OrdersSourceConnector")
    plugins = Plugins()
    found = plugins.connector("com.acme.OrdersSourceConnector")
    assert plugins.connector("com.acme.ordersSourceConnector") == found
    assert plugins.connector("com.other.purchasessourceconnector") == found
    assert plugins.converter("jsonconverter") == plugins.converter("JsonConverter") is not None


def test_an_exact_name_goes_before_one_that_differs_in_case(install: Install) -> None:
    code = CODE + "class ordersSourceConnector(Common, SourceConnector):\n    pass\n"
    module = install(code, upper="OrdersSourceConnector", lower="ordersSourceConnector")
    plugins = Plugins()
    found = plugins.connector("ordersSourceConnector")
    assert found.class_name == f"{module}.ordersSourceConnector"
    with pytest.raises(BadRequest, match="More than one connector matches alias ORDERSSOURCE"):
        plugins.connector("ORDERSSOURCE")


NEEDY = "import a_module_of_the_extra.deep\n" + CODE


def test_a_plugin_without_its_extra_is_listed_and_says_what_to_install(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    target = "OrdersSourceConnector [s3]"
    module = install(NEEDY, orders=target, ledger="LedgerSink [s3,gcs]")
    plugins = Plugins()
    own = OwnAnswers(plugins, "cluster")
    listed = {plugin["class"]: plugin["type"] for plugin in own.plugins()}
    assert listed[f"{module}.OrdersSourceConnector"] == "source"
    assert listed[f"{module}.LedgerSink"] == "sink"
    asked = ("com.acme.ordersSourceConnector", f"{module}.OrdersSourceConnector", "orders")
    for name in asked:
        with pytest.raises(BadRequest) as refused:
            own.validate(name, {"connector.class": name})
        assert str(refused.value) == (
            "orders needs a_module_of_the_extra, which is not installed. "
            f'Run: pip install "{module}[s3]", then restart the worker.'
        )
    with pytest.raises(BadRequest, match=rf'pip install "{module}\[s3,gcs\]"'):
        plugins.connector("LedgerSink")
    with pytest.raises(NotFound, match=rf'pip install "{module}\[s3,gcs\]"'):
        own.plugin_config("LedgerSink")
    assert "Traceback" not in caplog.text
    assert plugins.connector("FileStreamSource").type == "source"


def test_a_converter_without_its_extra_says_what_to_install(install: Install) -> None:
    module = install(NEEDY, group="penstock.converters", protobuf="ProtobufConverter [protobuf]")
    own = OwnAnswers(Plugins(), "cluster")
    everything = {plugin["class"]: plugin["type"] for plugin in own.plugins(False)}
    assert everything[f"{module}.ProtobufConverter"] == "converter"
    config = {"name": "n", "topic": "t", "file": "f", "connector.class": "FileStreamSource"}
    config["value.converter"] = "io.confluent.connect.protobuf.ProtobufConverter"
    answer = own.validate("FileStreamSource", config)
    values = {each["value"]["name"]: each["value"] for each in answer["configs"]}
    (error,) = values["value.converter"]["errors"]
    assert f'Run: pip install "{module}[protobuf]"' in error


def test_a_module_of_its_own_that_is_missing_is_a_defect(
    install: Install, caplog: pytest.LogCaptureFixture
) -> None:
    before = {p["class"] for p in OwnAnswers(Plugins(), "cluster").plugins()}
    code = "import sys; raise ModuleNotFoundError(name=__name__ + '.inner')"
    module = install(code, broken="Anything [s3]")
    assert {p["class"] for p in OwnAnswers(Plugins(), "cluster").plugins()} == before
    assert f"plugin broken ({module}:Anything [s3]) cannot be loaded" in caplog.text


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
    types = [plugin.type for plugin in plugins.listed(connectors_only=False)]
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


def test_a_connector_that_was_installed_since_needs_a_restart(install: Install) -> None:
    plugins = Plugins()
    assert plugins.connectors
    install(orders="OrdersSourceConnector")
    with pytest.raises(BadRequest, match="Failed to find any class") as refused:
        plugins.connector("OrdersSource")
    assert "installed after this worker started: restart" in refused.value.next_step
    with pytest.raises(BadRequest) as unknown:
        plugins.connector("Nothing")
    assert "penstock get plugins" in unknown.value.next_step


def test_a_connector_that_does_not_load_is_not_called_new(install: Install) -> None:
    install("import nothing_of_this_name", broken="BrokenConnector")
    with pytest.raises(BadRequest) as refused:
        Plugins().connector("Broken")
    assert "could not be loaded" in refused.value.next_step
