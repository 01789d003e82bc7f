"""Names of objects, as a whole and nothing but."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk import ConfigError, NameTemplate, ObjectContext

USUAL = "{{topic}}-{{partition}}-{{start_offset}}"


@pytest.mark.parametrize(
    ("template", "name", "said"),
    [
        (USUAL, "orders-1-173", {"topic": "orders", "partition": 1, "start_offset": 173}),
        (USUAL, "a/b/orders-1-173", {"topic": "orders", "partition": 1, "start_offset": 173}),
        (USUAL, "big-orders-1-2-3", {"topic": "big-orders-1", "partition": 2, "start_offset": 3}),
        (USUAL + r"\.txt", "o-1-2.txt", {"topic": "o", "partition": 1, "start_offset": 2}),
        (
            "{{topic}}/{{partition:padding=true}}/{{key}}",
            "o/0000000007/a/b",
            {"topic": "o", "partition": 7, "key": "a/b"},
        ),
        ("{{topic}}-{{timestamp}}", "o-1700000000000", {"topic": "o", "timestamp": 1700000000000}),
        (
            "{{timestamp:unit=yyyy}}/{{timestamp:unit=MM}}/{{timestamp:unit=dd}}/{{topic}}",
            "2024/02/29/o",
            {"topic": "o", "timestamp": 1709164800000},
        ),
        ("{{topic}}/{{topic}}-{{partition}}", "o/o-3", {"topic": "o", "partition": 3}),
        (".*", "whatever/it/is.bin", {}),
        ("{{ topic }}_{{ partition }}", "o_1", {"topic": "o", "partition": 1}),
    ],
)
def test_what_a_name_says(template: str, name: str, said: dict[str, Any]) -> None:
    assert NameTemplate(template).match(name) == ObjectContext(name, **said)


@pytest.mark.parametrize(
    ("template", "name"),
    [
        # Unanchored, as elsewhere, the first would be topic 22 and partition 10.
        (USUAL, "22-10-12/customer-topic-1-173.txt"),
        (USUAL, "orders-1-173.gz"),
        (USUAL, "orders-x-173"),
        (USUAL, "orders-4294967296-1"),
        (USUAL, "orders-1-9223372036854775808"),
        ("{{topic}}/{{partition}}", "prefix/orders/1"),
        ("{{topic}}/{{topic}}-{{partition}}", "o/p-3"),
        ("{{timestamp:unit=yyyy}}{{timestamp:unit=MM}}", "202413"),
        (USUAL, ""),
    ],
)
def test_a_name_that_does_not_match_as_a_whole_says_nothing(template: str, name: str) -> None:
    assert NameTemplate(template).match(name) is None


@given(
    topic=st.from_regex(r"[a-zA-Z0-9._-]{1,20}", fullmatch=True),
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
    folder=st.sampled_from(["", "a/", "2024-01-01/b/"]),
)
def test_what_a_sink_writes_is_understood(
    topic: str, partition: int, offset: int, folder: str
) -> None:
    said = NameTemplate(USUAL).match(f"{folder}{topic}-{partition}-{offset}")
    assert said is not None
    assert (said.topic, said.partition, said.start_offset) == (topic, partition, offset)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{tpoic}}", "a variable must be one of topic, partition"),
        ("{{}}", "a variable must be one of"),
        ("{{topic", "not closed"),
        ("(", "not a regular expression"),
        ("{{partition:unit=yyyy}}", "partition has no parameter unit=yyyy"),
        ("{{timestamp:unit=ss}}", "timestamp has no parameter unit=ss"),
    ],
)
def test_a_template_that_makes_no_sense_is_refused(template: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        NameTemplate(template)
    assert refused.value.key == "file.name.template"
