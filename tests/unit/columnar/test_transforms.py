"""The seam for transforms, and RegexRouter on it."""

import pickle

import pyarrow as pa
import pytest

from penstock.columnar.regex_router import RegexRouter
from penstock.sdk.batches import TOPIC, record_batch
from penstock.sdk.config import ConfigDef
from penstock.sdk.errors import ConfigError
from penstock.sdk.transforms import Transform


def router(regex: str, replacement: str) -> RegexRouter:
    made = RegexRouter()
    made.configure({"regex": regex, "replacement": replacement})
    return made


def batch(*topics: str) -> pa.RecordBatch:
    names = pa.array(topics, pa.string()).dictionary_encode()
    return record_batch(names, pa.array(range(len(topics))))


def routed(regex: str, replacement: str, topic: str) -> str:
    renamed = router(regex, replacement).apply(batch(topic))
    name: str = renamed.column("topic").to_pylist()[0]
    return name


@pytest.mark.parametrize(
    ("regex", "replacement", "topic", "expected"),
    [
        ("(.*)-v[0-9]+", "$1", "orders-v2", "orders"),
        ("orders", "x", "orders-v2", "orders-v2"),
        (".*", "all", "t", "all"),
        ("(a)(b)", "$2$1", "ab", "ba"),
        ("(a)", "$12", "a", "a2"),
        ("(?<name>.+)", "db.${name}", "t", "db.t"),
        ("(a)", r"\$1", "a", "$1"),
        ("(a)(b)?", "$1-$2", "a", "a-"),
        ("a|ab", "x", "ab", "xb"),
    ],
)
def test_routes_as_java_does(regex: str, replacement: str, topic: str, expected: str) -> None:
    assert routed(regex, replacement, topic) == expected


def test_topics_that_meet_become_one_entry() -> None:
    renamed = router("t[12]", "t").apply(batch("t1", "t2", "u", "t1"))
    assert renamed.column("topic").to_pylist() == ["t", "t", "u", "t"]
    assert renamed.column("topic").dictionary.to_pylist() == ["t", "u"]
    assert renamed.schema.field("topic").type == TOPIC
    assert renamed.column("value").to_pylist() == [0, 1, 2, 3]


def test_nothing_to_do_costs_nothing() -> None:
    before = batch("a", "b")
    assert router("x", "y").apply(before) is before


@pytest.mark.parametrize("replacement", ["$9", "$", "${nobody}"])
def test_a_replacement_that_names_no_group(replacement: str) -> None:
    with pytest.raises(ConfigError, match="for configuration replacement"):
        routed("(.*)", replacement, "t")


def test_a_bad_pattern_is_a_config_error() -> None:
    with pytest.raises(
        ConfigError, match=r"Invalid value \( for configuration regex: Invalid regex"
    ):
        router("(", "")


class DropFirst(Transform):
    connect_class = "test.DropFirst"
    config_def = ConfigDef()

    def configure(self, config: object) -> None:
        """Nothing to configure."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        assert batch.num_rows
        return batch.slice(1)


def test_a_configured_transform_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(router("a", "b")))  # noqa: S301 (pickled just above)
    assert copy.apply(batch("a")).column("topic").to_pylist() == ["b"]
