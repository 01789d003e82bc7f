"""What becomes of the name while a frame is worked on, and if there is none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.consumers import ConsumerError, dataframe
from penstock.consumers.directory import Directory
from penstock.embedded import EmbeddedBroker
from waiting import eventually


@pytest.fixture
def unread(broker: EmbeddedBroker, topic: str):
    """What a consumer of the topic has not read; nobody looks into the frame here."""

    def ask(spark: Any, **options: Any):
        brokers = broker.bootstrap_servers
        return dataframe(spark, topic, f"reader-of-{topic}", bootstrap_servers=brokers, **options)

    return ask


def test_where_there_is_no_frame_the_name_is_free(unread, consumer) -> None:
    spark = MagicMock()
    spark.read.format.return_value.options.return_value.load.side_effect = OSError("no Spark")
    for _ in range(2):
        with pytest.raises(OSError, match="no Spark"):
            unread(spark)
    with consumer() as reader:
        assert next(reader).text == "0"


def test_one_that_is_worked_on_is_seen(
    unread, directory: Directory, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.consumers.holding.keeper.SEEN_SECONDS", 0.5)

    def seen() -> int:
        (found,) = [each for each in directory.listed() if each.key.topic == topic]
        assert found.offset == 0
        return found.seen

    with unread(MagicMock(), ttl=timedelta(hours=1)) as found:
        first = seen()
        eventually(lambda: seen() > first, every=0.2, what="that it is still there")
    with pytest.raises(ConsumerError, match="is closed"):
        found.commit()
