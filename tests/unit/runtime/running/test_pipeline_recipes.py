"""From a connector's configuration to what its pipeline is made of."""

from __future__ import annotations

import pytest

from penstock.columnar.predicates import HasHeaderKey
from penstock.columnar.regex_router import RegexRouter
from penstock.engine.pipeline.recipe import Condition, Recipe
from penstock.runtime.plugins import Plugins
from penstock.runtime.running.pipelines import pipeline_recipe
from penstock.sdk.errors import ConfigError

PLUGINS = Plugins()
WORKER = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
ROUTER = {
    "transforms": "r",
    "transforms.r.type": "RegexRouter",
    "transforms.r.regex": ".*",
    "transforms.r.replacement": "x",
}


def recipe(config: dict[str, str], worker: dict[str, str] | None = None) -> Recipe:
    return pipeline_recipe(PLUGINS, config, config, {**WORKER, **(worker or {})})


def test_a_transform_without_a_predicate() -> None:
    [(cls, settings, condition)] = recipe(ROUTER).transforms
    assert (cls, settings["replacement"], condition) == (RegexRouter, "x", None)


@pytest.mark.parametrize(
    ("negate", "negated"), [({}, False), ({"transforms.r.negate": " TRUE "}, True)]
)
def test_a_transform_with_a_predicate(negate: dict[str, str], negated: bool) -> None:
    predicate = {
        "predicates": "p",
        "predicates.p.type": "HasHeaderKey",
        "predicates.p.name": "h",
        "transforms.r.predicate": "p",
    }
    [(_, _, condition)] = recipe({**ROUTER, **predicate, **negate}).transforms
    settings = {"type": "HasHeaderKey", "name": "h"}
    assert condition == Condition(HasHeaderKey, settings, negated)


def test_a_predicate_that_is_gone_since() -> None:
    gone = {"transforms.r.predicate": "p", "predicates.p.type": "a.B"}
    with pytest.raises(ConfigError, match=r"Class a\.B could not be found"):
        recipe({**ROUTER, **gone})


@pytest.mark.parametrize(
    "name",
    [
        "org.apache.kafka.connect.storage.SimpleHeaderConverter",
        "SimpleHeaderConverter",
        "org.apache.kafka.connect.storage.StringConverter",
        "JsonConverter",
        "ByteArrayConverter",
    ],
)
def test_header_converters(name: str) -> None:
    recipe({"header.converter": name})
    recipe({}, {"header.converter": name})


def test_a_converter_that_depends_on_the_topic_is_none_for_headers() -> None:
    with pytest.raises(ConfigError, match=r"header\.converter: .*for keys and values only"):
        recipe({"header.converter": "AvroConverter"})


def test_a_header_converter_that_is_not_there() -> None:
    text = r"Invalid value a\.B for configuration header\.converter: Class a\.B could not be found"
    with pytest.raises(ConfigError, match=text):
        recipe({"header.converter": "a.B"})
    with pytest.raises(ConfigError, match=text):
        recipe({}, {"header.converter": "a.B"})
    recipe({"header.converter": "StringConverter"}, {"header.converter": "a.B"})
