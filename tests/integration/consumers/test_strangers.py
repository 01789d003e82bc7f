"""Members of the group that do not keep to its kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer as Plain

from penstock.consumers import Consumer, NameHeld
from topics import Topics
from waiting import eventually


@pytest.fixture
def plain(topics: Topics, topic: str) -> Iterator[Plain]:
    """A static member of another program, which reads the topic."""
    made = Plain(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": f"reader-of-{topic}",
            "group.instance.id": "worker-1",
            "session.timeout.ms": 6000,
            "auto.offset.reset": "earliest",
        }
    )
    made.subscribe([topic])
    yield made
    made.close()


def test_a_static_member_of_another_program_is_refused(consumer, plain: Plain, topic: str) -> None:
    eventually(lambda: plain.poll(0.2), what="its first record")
    for options in ({}, {"take_over": True}):
        with pytest.raises(NameHeld, match=f'another program, "worker-1", which reads {topic}'):
            consumer(**options).open()


def test_one_that_shares_sees_one_that_came_after_its_first_look(
    consumer, monkeypatch: pytest.MonkeyPatch, topic: str
) -> None:
    holder: Consumer = consumer().open()
    with monkeypatch.context() as patched:
        patched.setattr("penstock.consumers.holding.sharing._refuse_held", lambda *_: None)
        shared = consumer(share=True).open()
    for _ in range(2):
        with pytest.raises(NameHeld, match=f"reads {topic} alone"):
            shared.take(patience=30)
    assert next(holder).text == "0"
    holder.flush()
