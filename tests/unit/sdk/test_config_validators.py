"""The ready validators speak Kafka's words."""

from typing import Any

import pytest

from penstock.sdk.config import Validator
from penstock.sdk.config_validators import (
    at_least,
    between,
    no_control_characters,
    non_empty,
    one_of,
    one_of_ignoring_case,
    regex,
)
from penstock.sdk.errors import ConfigError


@pytest.mark.parametrize(
    ("validator", "value", "shown", "why"),
    [
        (at_least(1), 0, "0", "Value must be at least 1"),
        (between(0, 9), -1, "-1", "Value must be at least 0"),
        (between(0, 9), 10, "10", "Value must be no more than 9"),
        (one_of("none", "restart"), "x", "x", "String must be one of: none, restart"),
        (one_of("none"), True, "true", "String must be one of: none"),
        (
            one_of_ignoring_case("BASE64", "NUMERIC"),
            "x",
            "x",
            "String must be one of (case insensitive): BASE64, NUMERIC",
        ),
        (non_empty, "", "", "String must be non-empty"),
        (non_empty, [], "[]", "List must be non-empty"),
        (no_control_characters, "", "", "String may not be empty"),
        (
            no_control_characters,
            "a\tb\x7f",
            "a\tb\x7f",
            "String may not contain control sequences but had the following ASCII chars: 9, 127",
        ),
        (
            regex,
            "(",
            "(",
            "Invalid regex: missing ), unterminated subpattern at position 0",
        ),
    ],
)
def test_refuses(validator: Validator, value: Any, shown: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validator("k", value)
    assert str(caught.value) == f"Invalid value {shown} for configuration k: {why}"


@pytest.mark.parametrize(
    ("validator", "value"),
    [
        (at_least(1), 1),
        (between(0, 9), 0),
        (between(0, 9), 9),
        (one_of("a", "b"), "b"),
        (one_of_ignoring_case("BASE64"), "base64"),
        (non_empty, "x"),
        (non_empty, ["x"]),
        (no_control_characters, "näme 1"),
        (regex, "a.*"),
    ],
)
def test_accepts(validator: Validator, value: Any) -> None:
    validator("k", value)


@pytest.mark.parametrize(
    "validator",
    [
        at_least(1),
        between(0, 9),
        one_of("a"),
        one_of_ignoring_case("a"),
        non_empty,
        no_control_characters,
        regex,
    ],
)
def test_accepts_a_key_that_is_not_set(validator: Validator) -> None:
    validator("k", None)
