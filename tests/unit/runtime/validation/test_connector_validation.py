"""Validation of connector configurations, with Kafka Connect's texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import __version__
from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.runtime.config.connector_config import SINK, SOURCE
from penstock.runtime.config.override_policy import OverridePolicy
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validated, Validator

PLUGINS = Plugins()
SOURCE_CONFIG = {
    "name": "n",
    "connector.class": "FileStreamSource",
    "topic": "t",
    "file": "/tmp/a.txt",  # noqa: S108 (never opened)
}
SINK_CONFIG = {
    "name": "n",
    "connector.class": "FileStreamSink",
    "topics": "t",
    "file": "/tmp/b.txt",  # noqa: S108 (never opened)
}
NOT_FOUND = "Invalid value {0} for configuration {1}: Class {0} could not be found."


def validate(
    config: dict[str, Any], group: str = "cluster", rules: Rules | None = None
) -> Validated:
    present = {key: value for key, value in config.items() if value != "REMOVED"}
    return Validator(PLUGINS, group, rules).validate(present)


def errors(
    config: dict[str, Any], group: str = "cluster", rules: Rules | None = None
) -> dict[str, list[str]]:
    return {v.name: v.errors for v in validate(config, group, rules).values if v.errors}


def test_the_plain_configurations_are_valid() -> None:
    assert errors(SOURCE_CONFIG) == {}
    assert errors(SINK_CONFIG) == {}
    validate(SOURCE_CONFIG).raise_if_invalid()


def test_a_version_that_is_not_installed() -> None:
    told = (
        "Plugin org.apache.kafka.connect.file.FileStreamSourceConnector not found that matches "
        f"the version range [9.9,9.9], available versions: [{__version__}]"
    )
    for wanted in ("[9.9]", "9.9"):
        found = errors({**SOURCE_CONFIG, "connector.plugin.version": wanted})
        assert found == {"connector.class": [told], "connector.plugin.version": [told]}
    for wanted in (__version__, f"[{__version__}]", "[0,9.9)", "latest"):
        assert errors({**SOURCE_CONFIG, "connector.plugin.version": wanted}) == {}
    with pytest.raises(BadRequest, match=r"^Invalid version specification: \[$"):
        errors({**SOURCE_CONFIG, "connector.plugin.version": "["})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("topic", "REMOVED", 'Missing required configuration "topic" which has no default value.'),
        ("name", "REMOVED", 'Missing required configuration "name" which has no default value.'),
        ("name", None, "Null value can not be supplied as the configuration value."),
        ("name", "", "Invalid value  for configuration name: String may not be empty"),
        (
            "tasks.max",
            "dog",
            "Invalid value dog for configuration tasks.max: Not a number of type INT",
        ),
        ("tasks.max", "0", "Invalid value 0 for configuration tasks.max: Value must be at least 1"),
        (
            "tasks.max.enforce",
            "maybe",
            "Invalid value maybe for configuration tasks.max.enforce: "
            "Expected value to be either true or false",
        ),
        (
            "errors.tolerance",
            "some",
            "Invalid value some for configuration errors.tolerance: "
            "String must be one of: none, all",
        ),
        ("key.converter", "a.B", NOT_FOUND.format("a.B", "key.converter")),
        ("value.converter", "RegexRouter", NOT_FOUND.format("RegexRouter", "value.converter")),
    ],
)
def test_one_error_of_a_source(key: str, value: str | None, message: str) -> None:
    assert errors({**SOURCE_CONFIG, key: value}) == {key: [message]}


def test_no_topics() -> None:
    message = "Must configure one of topics or topics.regex"
    assert errors({**SINK_CONFIG, "topics": "REMOVED"}) == {
        "topics": [message],
        "topics.regex": [message],
    }


def test_topics_both_ways() -> None:
    message = "topics and topics.regex are mutually exclusive options, but both are set."
    assert errors({**SINK_CONFIG, "topics.regex": "t.*"}) == {
        "topics": [message],
        "topics.regex": [message],
    }


def test_a_regex_that_is_none() -> None:
    config = {**SINK_CONFIG, "topics": "REMOVED", "topics.regex": "["}
    dead = {**config, "errors.deadletterqueue.topic.name": "dead"}
    for found in (errors(config), errors(dead)):
        [message] = found.pop("topics.regex")
        assert message.startswith("Invalid value [ for configuration topics.regex: Invalid regex:")
        assert found == {}


def test_dead_letters_that_would_be_read_again() -> None:
    dead = {"errors.deadletterqueue.topic.name": "dead"}
    assert errors({**SINK_CONFIG, **dead, "topics": "t, dead"}) == {
        "topics": [
            "The DLQ topic 'dead' may not be included in the list of topics "
            "('topics=[t, dead]') consumed by the connector"
        ]
    }
    assert errors({**SINK_CONFIG, **dead, "topics": "REMOVED", "topics.regex": "d.*"}) == {
        "topics.regex": [
            "The DLQ topic 'dead' may not be matched by the regex for the topics "
            "('topics.regex=d.*') consumed by the connector"
        ]
    }
    assert errors({**SINK_CONFIG, **dead, "topics": "deadly"}) == {}


def test_a_sink_whose_group_is_the_workers() -> None:
    assert errors({**SINK_CONFIG, "name": "orders"}, group="connect-orders") == {
        "name": [
            "Consumer group for sink connector named orders conflicts with Connect worker group "
            "connect-orders"
        ]
    }
    assert errors({**SOURCE_CONFIG, "name": "orders"}, group="connect-orders") == {}


def test_a_sink_that_chooses_its_group() -> None:
    key = "consumer.override.group.id"
    allowed = Rules(overrides=OverridePolicy("All"))
    chosen = {**SINK_CONFIG, "name": "orders", key: "connect-orders"}
    assert errors(chosen, group="workers", rules=allowed) == {}
    assert errors(chosen, group="connect-orders", rules=allowed) == {
        key: ["Consumer group connect-orders conflicts with Connect worker group connect-orders"]
    }
    assert errors({**chosen, key: "other"}, group="connect-orders", rules=allowed) == {}
    assert errors(chosen, group="workers") == {
        key: [
            "The 'None' policy does not allow 'group.id' to be overridden in the connector "
            "configuration."
        ]
    }


def test_transforms() -> None:
    router = {"transforms.r.type": "RegexRouter", "transforms.r.replacement": "x"}
    config = {**SOURCE_CONFIG, **router, "transforms": "r", "transforms.r.regex": ".*"}
    assert errors(config) == {}
    assert errors({**config, "transforms.r.regex": "REMOVED"}) == {
        "transforms.r.regex": [
            'Missing required configuration "transforms.r.regex" which has no default value.'
        ]
    }
    assert errors({**config, "transforms": "r, other, r"}) == {
        "transforms": [
            "Invalid value [r, other, r] for configuration transforms: Duplicate alias provided."
        ],
        "transforms.other.type": [
            'Missing required configuration "transforms.other.type" which has no default value.'
        ],
    }
    assert errors({**config, "transforms.r.type": "Nothing"}) == {
        "transforms.r.type": [NOT_FOUND.format("Nothing", "transforms.r.type")]
    }


def test_settings_of_a_converter() -> None:
    config = {**SOURCE_CONFIG, "value.converter": "JsonConverter"}
    assert errors({**config, "value.converter.schemas.enable": "perhaps"}) == {
        "value.converter.schemas.enable": [
            "Invalid value perhaps for configuration value.converter.schemas.enable: "
            "Expected value to be either true or false"
        ]
    }


@pytest.mark.parametrize("config", [{}, {"connector.class": " "}, {"connector.class": None}])
def test_no_class(config: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match=r"^Connector config contains no connector type$"):
        validate({"name": "n", **config})


def test_an_unknown_class() -> None:
    known = ", ".join(plugin.class_name for plugin in PLUGINS.connectors)
    with pytest.raises(BadRequest) as refused:
        validate({**SOURCE_CONFIG, "connector.class": "com.acme.Nothing"})
    assert str(refused.value) == (
        "Failed to find any class that implements Connector and which name matches "
        f"com.acme.Nothing, available connectors are: {known}"
    )


def test_every_error_is_in_the_one_message() -> None:
    config = {**SOURCE_CONFIG, "topic": "REMOVED", "tasks.max": "dog"}
    with pytest.raises(BadRequest) as refused:
        validate(config).raise_if_invalid()
    assert str(refused.value) == (
        "Connector configuration is invalid and contains the following 2 error(s):\n"
        "Invalid value dog for configuration tasks.max: Not a number of type INT\n"
        'Missing required configuration "topic" which has no default value.\n'
        "You can also find the above list of errors at the endpoint "
        "`/connector-plugins/{connectorType}/config/validate`"
    )
    assert refused.value.status == 400


def test_braces_in_a_value_do_no_harm() -> None:
    with pytest.raises(BadRequest, match=r"Invalid value \{dog\} for configuration tasks.max"):
        validate({**SOURCE_CONFIG, "tasks.max": "{dog}"}).raise_if_invalid()


def test_the_shape_of_a_validation() -> None:
    config = {**SOURCE_CONFIG, "tasks.max": "dog", "transforms": "a"}
    shown = validate(config).to_json("FileStreamSource")
    assert shown["name"] == "FileStreamSource"
    assert shown["error_count"] == 2
    assert shown["groups"][:3] == ["Common", "Transforms", "Predicates"]
    infos = {info["value"]["name"]: info for info in shown["configs"]}
    assert infos["tasks.max"]["value"] == {
        "name": "tasks.max",
        "value": None,
        "recommended_values": [],
        "errors": ["Invalid value dog for configuration tasks.max: Not a number of type INT"],
        "visible": True,
    }
    assert infos["tasks.max"]["definition"]["type"] == "INT"
    assert infos["transforms.a.type"]["definition"]["group"] == "Transforms: a"
    assert infos["topic"]["value"]["value"] == "t"


@pytest.mark.parametrize(
    ("config", "framework", "own"),
    [
        (SOURCE_CONFIG, SOURCE, {"file", "file.glob", "topic", "batch.size"}),
        (SINK_CONFIG, SINK, {"file"}),
    ],
)
def test_the_keys_of_a_file_connector(
    config: dict[str, str], framework: Any, own: set[str]
) -> None:
    names = [value.name for value in validate(config).values]
    assert len(names) == len(set(names))
    assert set(names) == set(framework.names()) | own


@pytest.fixture
def secret_rules(tmp_path: Path) -> Rules:
    """A worker that lets connectors refer to files of a folder."""
    (tmp_path / "s.properties").write_text("number=geheim\ngroup=none\n")
    provider = FileProvider(AllowedPaths((str(tmp_path),)))
    return Rules(Providers({"file": provider}))


def test_what_a_reference_leads_to_is_never_told(secret_rules: Rules, tmp_path: Path) -> None:
    reference = f"${{file:{tmp_path}/s.properties:number}}"
    tolerance = f"${{file:{tmp_path}/s.properties:group}}"
    sent = {**SOURCE_CONFIG, "tasks.max": reference, "errors.tolerance": tolerance}
    validated = Validator(PLUGINS, "g", secret_rules).validate(sent)
    values = {value.name: value for value in validated.values}
    assert values["tasks.max"].value == reference
    assert values["tasks.max"].errors == [
        "Invalid value for configuration 'tasks.max': the value resolved from the config provider "
        "reference failed validation"
    ]
    assert (values["errors.tolerance"].value, values["errors.tolerance"].errors) == (tolerance, [])
    assert "geheim" not in json.dumps(validated.to_json("x"))


def test_a_reference_that_leads_nowhere_is_an_ordinary_value(
    secret_rules: Rules, tmp_path: Path
) -> None:
    reference = f"${{file:{tmp_path}/s.properties:absent}}"
    validated = Validator(PLUGINS, "g", secret_rules).validate(
        {**SOURCE_CONFIG, "tasks.max": reference}
    )
    assert validated.errors == [
        f"Invalid value {reference} for configuration tasks.max: Not a number of type INT"
    ]


def test_a_file_that_cannot_be_read(secret_rules: Rules, tmp_path: Path) -> None:
    config = {**SOURCE_CONFIG, "topic": f"${{file:{tmp_path}/absent:key}}"}
    with pytest.raises(BadRequest, match="Could not read properties from file"):
        Validator(PLUGINS, "g", secret_rules).validate(config)


def test_a_connectors_own_providers_are_ignored(tmp_path: Path) -> None:
    config = {**SOURCE_CONFIG, "config.providers": "file", "topic": "${file:/etc/passwd:root}"}
    values = {value.name: value.value for value in validate(config).values}
    assert values["topic"] == "${file:/etc/passwd:root}"
    assert "config.providers" not in values


def test_a_null_is_refused_even_where_nobody_knows_the_key() -> None:
    found = validate({**SOURCE_CONFIG, "colour": None})
    assert found.values[0].name == "colour"
    assert found.errors == ["Null value can not be supplied as the configuration value."]
    assert errors({**SOURCE_CONFIG, "colour": "blue"}) == {}


def test_a_predicate_that_is_not_there() -> None:
    config = {**SOURCE_CONFIG, "predicates": "p", "predicates.p.type": "a.B"}
    assert errors(config) == {"predicates.p.type": [NOT_FOUND.format("a.B", "predicates.p.type")]}
    router = {**config, "predicates.p.type": "RegexRouter"}
    assert list(errors(router)) == ["predicates.p.type"]
    assert errors({**SOURCE_CONFIG, "predicates": "p"}) == {
        "predicates.p.type": [
            'Missing required configuration "predicates.p.type" which has no default value.'
        ]
    }
    twice = errors({**config, "predicates": "p,p", "predicates.p.type": "RecordIsTombstone"})
    assert twice == {
        "predicates": [
            "Invalid value [p, p] for configuration predicates: Duplicate alias provided."
        ]
    }


def test_the_keys_of_a_predicate() -> None:
    config = {**SOURCE_CONFIG, "predicates": "p", "predicates.p.type": "TopicNameMatches"}
    key = "predicates.p.pattern"
    assert errors(config) == {
        key: [f'Missing required configuration "{key}" which has no default value.']
    }
    assert errors({**config, key: ""}) == {
        key: [f"Invalid value  for configuration {key}: String must be non-empty"]
    }
    assert errors({**config, key: "("})[key][0].startswith(
        f"Invalid value ( for configuration {key}: Invalid regex"
    )
    shown = validate({**config, key: "a.*"}).to_json("n")
    assert "Predicates: p" in shown["groups"]
    infos = [i for i in shown["configs"] if i["value"]["name"].startswith("predicates.p.")]
    assert [i["value"]["name"].removeprefix("predicates.p.") for i in infos] == [
        *("type", "plugin.version", "pattern")
    ]
    package = "org.apache.kafka.connect.transforms.predicates"
    assert infos[0]["value"]["value"] == f"{package}.TopicNameMatches"
    assert f"{package}.HasHeaderKey" in infos[0]["value"]["recommended_values"]
    assert infos[0]["definition"]["display_name"] == "Predicate type for p"


def test_a_transform_whose_predicate_is_not_there() -> None:
    router = {"transforms": "r", "transforms.r.type": "RegexRouter", "transforms.r.regex": ".*"}
    config = {**SOURCE_CONFIG, **router, "transforms.r.replacement": "x"}
    assert errors({**config, "transforms.r.predicate": "p"}) == {
        "transforms.r.predicate": [
            "Invalid value p for configuration transforms.r.predicate: no such predicate"
        ]
    }
    assert errors({**config, "transforms.r.negate": "true"}) == {
        "transforms.r.type": [
            "Config 'transforms.r.negate' was provided but there is no config "
            "'transforms.r.predicate' defining a predicate to be negated."
        ]
    }
    right = {"predicates": "p", "predicates.p.type": "RecordIsTombstone"}
    using = {"transforms.r.predicate": "p", "transforms.r.negate": "true"}
    assert errors({**config, **right, **using}) == {}


def test_classes_are_named_in_full_and_versions_are_those_installed() -> None:
    config = {**SOURCE_CONFIG, "value.converter": "JsonConverter", "key.converter": "a.B"}
    found = {value.name: value for value in validate(config).values}
    json = "org.apache.kafka.connect.json.JsonConverter"
    assert found["value.converter"].value == json
    assert json in found["value.converter"].recommended_values
    version = found["value.converter.plugin.version"]
    assert version.recommended_values == [version.value]
    assert found["key.converter"].value is None
    assert not found["key.converter.plugin.version"].visible


def test_converters_that_depend_on_the_topic_are_not_offered_for_headers() -> None:
    found = {value.name: value.recommended_values for value in validate(SOURCE_CONFIG).values}
    avro = "io.confluent.connect.avro.AvroConverter"
    assert avro in found["key.converter"]
    assert avro not in found["header.converter"]
    assert "org.apache.kafka.connect.storage.SimpleHeaderConverter" in found["header.converter"]


def test_the_keys_of_a_transform_come_with_its_alias() -> None:
    router = {"transforms": "r", "transforms.r.type": "RegexRouter", "transforms.r.regex": ".*"}
    shown = validate({**SOURCE_CONFIG, **router, "transforms.r.replacement": "x"}).to_json("n")
    keys = [
        info["definition"]
        for info in shown["configs"]
        if info["value"]["name"].startswith("transforms.r.")
    ]
    assert [key["name"].removeprefix("transforms.r.") for key in keys] == [
        *("type", "plugin.version", "regex", "replacement", "negate", "predicate")
    ]
    assert [key["order_in_group"] for key in keys] == list(range(6))
    assert {key["group"] for key in keys} == {"Transforms: r"}
    assert keys[2]["display_name"] == "regex"
