"""What a worker says of plugins; it needs no cluster for that."""

from __future__ import annotations

import pytest

from penstock.runtime.errors import BadRequest, NotFound
from penstock.runtime.own_answers import OwnAnswers
from penstock.runtime.plugins import Plugins

OWN = OwnAnswers(Plugins(), "cluster")
CONFIG = {"name": "n", "topic": "t", "file": "a.txt"}


def test_connectors_are_listed_as_kafka_connect_names_them() -> None:
    listed = {plugin["class"]: plugin["type"] for plugin in OWN.plugins()}
    assert listed["org.apache.kafka.connect.file.FileStreamSourceConnector"] == "source"
    assert listed["org.apache.kafka.connect.file.FileStreamSinkConnector"] == "sink"
    assert set(listed.values()) == {"source", "sink"}
    everything = {plugin["type"] for plugin in OWN.plugins(connectors_only=False)}
    kinds = {"source", "sink", "transformation", "predicate", "converter", "header_converter"}
    assert everything == kinds


def test_predicates_are_listed_behind_transforms() -> None:
    listed = OWN.plugins(connectors_only=False)
    kinds = list(dict.fromkeys(plugin["type"] for plugin in listed))
    assert kinds.index("predicate") == kinds.index("transformation") + 1
    names = {plugin["class"] for plugin in listed if plugin["type"] == "predicate"}
    package = "org.apache.kafka.connect.transforms.predicates"
    ours = ("HasHeaderKey", "RecordIsTombstone", "TopicNameMatches")
    assert {f"{package}.{name}" for name in ours} <= names
    assert [key["name"] for key in OWN.plugin_config(f"{package}.HasHeaderKey")] == ["name"]


def test_converters_are_listed_for_headers_too_and_simple_ones_for_these_alone() -> None:
    listed = OWN.plugins(connectors_only=False)
    headers = [plugin for plugin in listed if plugin["type"] == "header_converter"]
    package = "org.apache.kafka.connect"
    numbers = ("Boolean", "ByteArray", "Double", "Float", "Integer", "Long", "Short")
    ours = [plugin for plugin in headers if not plugin["class"].startswith("sample_connectors.")]
    assert [plugin["class"] for plugin in ours] == [
        *(f"{package}.converters.{name}Converter" for name in numbers),
        f"{package}.json.JsonConverter",
        f"{package}.storage.SimpleHeaderConverter",
        f"{package}.storage.StringConverter",
    ]
    assert listed[-len(headers) :] == headers
    assert OWN.plugin_config(f"{package}.storage.SimpleHeaderConverter") == []
    assert OWN.plugin_config("SimpleHeaderConverter") == []


def test_a_connectors_own_keys_come_first_then_the_frameworks() -> None:
    names = [key["name"] for key in OWN.plugin_config("FileStreamSource")]
    assert set(names[:4]) == {"file", "file.glob", "topic", "batch.size"}
    assert names[4:6] == ["name", "connector.class"]
    assert len(names) == len(set(names))
    assert "topics" not in names
    assert "topics" in [key["name"] for key in OWN.plugin_config("FileStreamSink")]


def test_other_plugins_have_only_their_own_keys() -> None:
    assert {key["name"] for key in OWN.plugin_config("RegexRouter")} == {"regex", "replacement"}


def test_the_keys_of_an_unknown_plugin() -> None:
    with pytest.raises(NotFound, match=r"^Unknown plugin Nothing\.$"):
        OWN.plugin_config("Nothing")


def test_a_class_that_is_not_the_one_in_the_url() -> None:
    with pytest.raises(BadRequest) as refused:
        OWN.validate("FileStreamSink", {"connector.class": "FileStreamSource"})
    assert str(refused.value) == (
        "Included connector type FileStreamSource does not match request type FileStreamSink"
    )


@pytest.mark.parametrize("asked", ["FileStreamSource", "FileStreamSourceConnector"])
@pytest.mark.parametrize(
    "sent",
    [
        "FileStreamSource",
        "FileStreamSourceConnector",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
    ],
)
def test_names_of_one_class_match(asked: str, sent: str) -> None:
    shown = OWN.validate(asked, {**CONFIG, "connector.class": sent})
    assert (shown["name"], shown["error_count"]) == (sent, 0)


def test_a_name_that_is_not_there_is_missing_and_not_null() -> None:
    shown = OWN.validate("FileStreamSource", {"connector.class": "FileStreamSource"})
    errors = [message for info in shown["configs"] for message in info["value"]["errors"]]
    assert errors == [
        'Missing required configuration "name" which has no default value.',
        'Missing required configuration "topic" which has no default value.',
    ]
