"""ConfigDef: what it reads, what it refuses, and in which words."""

import pickle
from typing import Any

import pytest

from penstock.sdk.config import (
    NULL_VALUE,
    REQUIRED,
    ConfigDef,
    ConfigKey,
    ConfigValue,
    Importance,
    Type,
    Width,
)
from penstock.sdk.config_validators import at_least, one_of
from penstock.sdk.errors import ConfigError


def parse(kind: Type, text: str) -> Any:
    return ConfigDef(ConfigKey("k", kind)).parse({"k": text})["k"]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Type.BOOLEAN, " TRUE ", True),
        (Type.BOOLEAN, "false", False),
        (Type.STRING, "\t a b \n", "a b"),
        (Type.STRING, "\u00a0a", "\u00a0a"),
        (Type.INT, " +7 ", 7),
        (Type.INT, "-2147483648", -(2**31)),
        (Type.SHORT, "32767", 32767),
        (Type.LONG, "9223372036854775807", 2**63 - 1),
        (Type.DOUBLE, "1.5e3", 1500.0),
        (Type.DOUBLE, ".5f", 0.5),
        (Type.DOUBLE, "-Infinity", float("-inf")),
        (Type.LIST, " a , b,c ", ["a", "b", "c"]),
        (Type.LIST, "  ", []),
        (Type.LIST, "a,,b,", ["a", "", "b", ""]),
        (Type.CLASS, " a.B ", "a.B"),
        (Type.PASSWORD, " s3cret ", "s3cret"),
    ],
)
def test_reads_values_as_kafka_does(kind: Type, text: str, value: Any) -> None:
    assert parse(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        (Type.INT, "dog", "Not a number of type INT"),
        (Type.INT, "2147483648", "Not a number of type INT"),
        (Type.INT, "1_000", "Not a number of type INT"),
        (Type.INT, "1.0", "Not a number of type INT"),
        (Type.INT, "", "Not a number of type INT"),
        (Type.INT, "9" * 5000, "Not a number of type INT"),
        (Type.SHORT, "32768", "Not a number of type SHORT"),
        (Type.LONG, "9223372036854775808", "Not a number of type LONG"),
        (Type.DOUBLE, "1,5", "Not a number of type DOUBLE"),
        (Type.DOUBLE, "inf", "Not a number of type DOUBLE"),
        (Type.BOOLEAN, "yes", "Expected value to be either true or false"),
    ],
)
def test_refuses_values_in_kafkas_words(kind: Type, text: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(kind, text)
    assert str(caught.value) == f"Invalid value {text} for configuration k: {why}"
    assert caught.value.key == "k"


def test_names_a_missing_key() -> None:
    with pytest.raises(ConfigError) as caught:
        ConfigDef(ConfigKey("topic")).parse({})
    expected = 'Missing required configuration "topic" which has no default value.'
    assert str(caught.value) == expected
    assert caught.value.key == "topic"


def test_refuses_null_even_where_there_is_a_default() -> None:
    (value,) = ConfigDef(ConfigKey("k", default="x")).validate({"k": None})
    assert value.errors == [NULL_VALUE]


def test_defaults_are_typed_and_not_shared() -> None:
    definition = ConfigDef(ConfigKey("l", Type.LIST, default=["a"]), ConfigKey("n", default=None))
    definition.parse({})["l"].append("b")
    assert definition.parse({}) == {"l": ["a"], "n": None}


def test_a_default_must_pass_the_keys_own_validator() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        ConfigKey("n", Type.INT, default=0, validator=at_least(1))


def test_parse_ignores_what_it_does_not_know() -> None:
    assert ConfigDef(ConfigKey("a")).parse({"a": "1", "b": "2"}) == {"a": "1"}


def test_validate_says_everything_about_every_key() -> None:
    definition = ConfigDef(
        ConfigKey("topic"),
        ConfigKey("n", Type.INT, default=1, validator=at_least(1)),
        ConfigKey("l", Type.LIST, default=("a", "b")),
        ConfigKey("mode", default="x", recommended=lambda config: [config["topic"], 2]),
        ConfigKey("extra", default=None, visible=lambda config: "topic" not in config),
    )
    assert definition.validate({"topic": " t ", "n": "0"}) == [
        ConfigValue("topic", "t"),
        ConfigValue(
            "n", "0", errors=["Invalid value 0 for configuration n: Value must be at least 1"]
        ),
        ConfigValue("l", "a,b"),
        ConfigValue("mode", "x", [" t ", "2"]),
        ConfigValue("extra", None, visible=False),
    ]


def test_an_unreadable_value_is_reported_as_null() -> None:
    (value,) = ConfigDef(ConfigKey("n", Type.INT)).validate({"n": "dog"})
    assert value.value is None
    assert value.errors == ["Invalid value dog for configuration n: Not a number of type INT"]


def test_merging_keeps_order_and_the_right_side_wins() -> None:
    left = ConfigDef(ConfigKey("a", doc="left", group="G1"), ConfigKey("b", group="G2"))
    merged = left + ConfigDef(ConfigKey("c", group="G1"), ConfigKey("a", doc="right", group="G3"))
    assert merged.names() == ["a", "b", "c"]
    assert merged["a"].doc == "right"
    assert merged.groups() == ["G3", "G2", "G1"]
    assert "b" in merged
    assert len(merged) == 3


PASSWORD = ConfigDef(
    ConfigKey("password", Type.PASSWORD, default="changeme"), ConfigKey("user", default=None)
)


def test_secrets_are_hidden() -> None:
    config = {"password": " s3cret ", "user": "me"}
    assert PASSWORD.secrets(config) == ["s3cret"]
    assert PASSWORD.masked(config) == {"password": "[hidden]", "user": "me"}
    assert PASSWORD.validate(config)[0].value == "[hidden]"
    assert PASSWORD["password"].describe()["default_value"] == "[hidden]"


def leaky(name: str, value: str) -> None:
    raise ConfigError(f"{name} may not be {value.strip()}")


@pytest.mark.parametrize(
    ("validator", "why"), [(one_of("a", "b"), ": String must be one of: a, b"), (leaky, "")]
)
def test_an_error_never_shows_a_secret(validator: Any, why: str) -> None:
    definition = ConfigDef(ConfigKey("p", Type.PASSWORD, validator=validator))
    with pytest.raises(ConfigError) as caught:
        definition.parse({"p": "s3cret"})
    assert str(caught.value) == f"Invalid value [hidden] for configuration p{why}"


def test_a_secret_that_passes_stays_what_it_is() -> None:
    definition = ConfigDef(ConfigKey("p", Type.PASSWORD, validator=one_of("s3cret")))
    assert f"{definition.parse({'p': 's3cret'})['p']}" == "s3cret"


def test_describes_a_key_as_connect_does() -> None:
    key = ConfigKey(
        "tasks.max",
        Type.INT,
        default=1,
        importance=Importance.HIGH,
        doc="How many.",
        group="Common",
        order=3,
        width=Width.SHORT,
        display_name="Tasks",
        dependents=("x",),
    )
    assert key.describe() == {
        "name": "tasks.max",
        "type": "INT",
        "required": False,
        "default_value": "1",
        "importance": "HIGH",
        "documentation": "How many.",
        "group": "Common",
        "order_in_group": 3,
        "width": "SHORT",
        "display_name": "Tasks",
        "dependents": ["x"],
    }


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (ConfigKey("k"), None),
        (ConfigKey("k", default=None), None),
        (ConfigKey("k", Type.BOOLEAN, default=True), "true"),
        (ConfigKey("k", Type.LIST, default=("a", "b")), "a,b"),
        (ConfigKey("k", Type.LIST, default=()), ""),
    ],
)
def test_describes_defaults_as_text(key: ConfigKey, text: str | None) -> None:
    assert key.describe()["default_value"] == text
    assert key.describe()["required"] is key.required


def test_required_stays_itself_when_pickled() -> None:
    assert pickle.loads(pickle.dumps(REQUIRED)) is REQUIRED  # noqa: S301 (pickled just above)
