"""Kafka Connect's predicates, as masks over batches."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from penstock.columnar.predicates import HasHeaderKey, RecordIsTombstone, TopicNameMatches
from penstock.sdk.batches import HEADERS, record_batch
from penstock.sdk.errors import ConfigError
from penstock.sdk.predicates import Predicate


def mask(predicate: Predicate, batch: pa.RecordBatch, **config: str) -> list[bool]:
    predicate.configure(config)
    copy = pickle.loads(pickle.dumps(predicate))  # noqa: S301 (pickled just above)
    found = copy.test(batch)
    assert found.type == pa.bool_()
    return list(found.to_pylist())


TOPICS = record_batch(pa.array(["a", "b", "ab", "a"]).dictionary_encode(), pa.array([1, 2, 3, 4]))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a", [True, False, False, True]),
        ("a.*", [True, False, True, True]),
        ("(?<name>b)", [False, True, False, False]),
        ("x", [False] * 4),
    ],
)
def test_topics_match_as_a_whole(pattern: str, expected: list[bool]) -> None:
    assert mask(TopicNameMatches(), TOPICS, pattern=pattern) == expected
    assert mask(TopicNameMatches(), TOPICS.slice(2), pattern=pattern) == expected[2:]


def test_headers() -> None:
    headers = [
        [{"key": "a", "value": b"1"}],
        None,
        [{"key": "b", "value": b"2"}, {"key": "a", "value": None}],
        [],
        [{"key": "b", "value": None}],
    ]
    batch = record_batch("t", pa.array(range(5)), headers=pa.array(headers, HEADERS))
    expected = [True, False, True, False, False]
    assert mask(HasHeaderKey(), batch, name="a") == expected
    assert mask(HasHeaderKey(), batch.slice(1, 3), name="a") == expected[1:4]
    assert mask(HasHeaderKey(), record_batch("t", pa.array([1, 2])), name="a") == [False, False]


@pytest.mark.parametrize("values", [[None, "x", "", None], [None, None]])
def test_tombstones(values: list[str | None]) -> None:
    expected = [value is None for value in values]
    assert mask(RecordIsTombstone(), record_batch("t", pa.array(values))) == expected


@pytest.mark.parametrize(
    ("predicate", "key"), [(TopicNameMatches(), "pattern"), (HasHeaderKey(), "name")]
)
def test_what_must_be_set(predicate: Predicate, key: str) -> None:
    with pytest.raises(ConfigError, match=f'Missing required configuration "{key}"'):
        predicate.configure({})
    with pytest.raises(ConfigError, match=f"for configuration {key}: String must be non-empty"):
        predicate.configure({key: ""})


def test_a_bad_pattern() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value \[ for configuration pattern: Invalid"):
        TopicNameMatches().configure({"pattern": "["})
