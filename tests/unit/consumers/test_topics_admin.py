"""Which topics are users' own."""

from __future__ import annotations

import pytest

from penstock.consumers.registry.registry import TOPIC
from penstock.consumers.topics_admin import INTERNAL, is_internal
from penstock.runtime.config.worker_config import WORKER


@pytest.mark.parametrize(
    ("topic", "internal"),
    [
        ("__consumer_offsets", True),
        ("__transaction_state", True),
        (TOPIC, True),
        ("penstock-workers", True),
        ("penstock-sink-offsets", True),
        ("penstock-orders", False),
        ("orders", False),
        ("_orders", False),
    ],
)
def test_internal_topics(topic: str, internal: bool) -> None:
    assert is_internal(topic) is internal


def test_the_topics_of_a_worker_are_internal() -> None:
    defaults = WORKER.parse({})
    stores = {defaults[f"{store}.storage.topic"] for store in ("config", "offset", "status")}
    assert {*stores, f"{defaults['group.id']}-workers"} < INTERNAL
