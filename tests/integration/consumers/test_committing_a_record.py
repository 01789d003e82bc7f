"""Only what was handed out can be committed."""

from __future__ import annotations

import pytest
from confluent_kafka import Message

from penstock.consumers import ConsumerError, Record


def record_at(topic: str, partition: int, offset: int) -> Record:
    return Record(Message(topic=topic, partition=partition, offset=offset))


def test_a_record_that_was_not_handed_out_is_refused(consumer, stands, topic: str) -> None:
    reader = consumer(strategy="manual")
    first, second = next(reader), next(reader)
    reader.commit(first)
    for place in (("other", 0, 0), (topic, 1, 0), (topic, 0, 2), (topic, 0, 99)):
        with pytest.raises(ConsumerError, match=f"of {place[0]}/{place[1]} cannot be committed"):
            reader.commit(record_at(*place))
    reader.flush()
    assert list(stands().values()) == [1]
    reader.commit(second)
    reader.flush()
    assert list(stands().values()) == [2]


def test_with_others_a_record_of_theirs_is_left_alone(consumer, stands, topic: str) -> None:
    reader = consumer(share=True, strategy="manual")
    first = next(reader)
    reader.commit(first)
    for place in ((topic, 7, 5), (topic, 0, 5)):
        reader.commit(record_at(*place))  # as of a partition that has moved, or come back
    reader.flush()
    assert {place.partition: at for place, at in stands().items()} == {0: 1}
    with pytest.raises(ConsumerError, match="of other/0 cannot be committed"):
        reader.commit(record_at("other", 0, 0))
