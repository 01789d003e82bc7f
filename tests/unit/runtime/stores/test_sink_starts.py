"""Where a sink begins in partitions for which it has committed nothing."""

from __future__ import annotations

import pytest

from penstock.runtime.stores.sink_positions import begins_at_end

KEY = "consumer.override.auto.offset.reset"


@pytest.mark.parametrize(
    ("own", "worker", "expected"),
    [
        ({}, {}, False),
        ({KEY: "latest"}, {}, True),
        ({KEY: " LATEST "}, {}, True),
        ({KEY: "earliest"}, {}, False),
        ({}, {"auto.offset.reset": "latest"}, True),
        ({KEY: "earliest"}, {"auto.offset.reset": "latest"}, False),
    ],
)
def test_begins_at_end(own: dict[str, str], worker: dict[str, str], expected: bool) -> None:
    assert begins_at_end(own, worker) == expected
