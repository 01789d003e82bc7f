"""How a source's topics are created: ``topic.creation.*``."""

from __future__ import annotations

import pytest

from penstock.engine.lease.new_topics import TopicGroup
from penstock.runtime.config.topic_creation import topic_groups
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validator

PLUGINS = Plugins()
DEFAULT = {
    "topic.creation.default.replication.factor": "1",
    "topic.creation.default.partitions": "3",
}
BASE = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", "file": "/f"}


def errors(**keys: str) -> dict[str, list[str]]:
    config = {f"topic.creation.{k.replace('_', '.')}": v for k, v in keys.items()}
    values = Validator(PLUGINS, "g").validate({**BASE, **config}).values
    return {value.name: value.errors for value in values if value.errors}


def test_without_a_word_about_it_topics_are_the_brokers_business() -> None:
    assert topic_groups({"topic": "t"}) == ()
    assert errors() == {}


def test_the_default_group_must_be_whole_once_there_is_any_key() -> None:
    missing = 'Missing required configuration "{}" which has no default value.'
    keys = sorted(DEFAULT)
    assert errors(groups="a") == {key: [missing.format(key)] for key in keys}
    assert errors(default_partitions="1") == {keys[1]: [missing.format(keys[1])]}
    assert errors(default_partitions="1", default_replication_factor="-1") == {}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("default.partitions", "0", "Number of partitions must be positive, or -1 to use the"),
        ("default.partitions", "many", "Not a number of type INT"),
        ("default.replication.factor", "-2", "Replication factor must be positive and not larger"),
        ("a.partitions", "-5", "Number of partitions must be positive"),
        ("a.include", "ok,(", "Invalid regex"),
        ("groups", "a,b,a", "Duplicate alias provided."),
    ],
)
def test_wrong_values(key: str, value: str, why: str) -> None:
    config = {**BASE, **DEFAULT, "topic.creation.groups": "a", f"topic.creation.{key}": value}
    values = Validator(PLUGINS, "g").validate(config).values
    found = {each.name: each.errors for each in values if each.errors}
    assert list(found) == [f"topic.creation.{key}"]
    assert why in found[f"topic.creation.{key}"][0]


def test_groups_in_order_with_the_default_one_last() -> None:
    config = {
        **DEFAULT,
        "topic.creation.default.compression.type": "zstd",
        "topic.creation.groups": "logs, compacted,default",
        "topic.creation.logs.include": "log-.*, trace-.*",
        "topic.creation.logs.exclude": ".*-never",
        "topic.creation.logs.partitions": "7",
        "topic.creation.compacted.include": "log-c.*",
        "topic.creation.compacted.cleanup.policy": "compact",
        "topic.creation.compacted.replication.factor": "-1",
    }
    groups = topic_groups(config)
    assert groups == (
        TopicGroup("logs", 7, 1, ["log-.*", "trace-.*"], [".*-never"]),
        TopicGroup("compacted", 3, -1, ["log-c.*"], [], {"cleanup.policy": "compact"}),
        TopicGroup("default", 3, 1, (".*",), (), {"compression.type": "zstd"}),
    )

    def chosen(topic: str) -> str:
        return next(group.name for group in groups if group.matches(topic))

    assert chosen("log-a") == chosen("log-c1") == "logs"
    assert chosen("log-c-never") == "compacted"
    assert chosen("my-log-a") == chosen("log") == "default"
