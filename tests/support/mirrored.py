"""A topic of this run's broker, mirrored into another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.plugins.mirror.mirror_source import MirrorSourceConnector
from penstock.sdk import SourceConnector
from penstock.sdk.testing import SourceUnderTest
from topics import Topics

MIRROR = "org.apache.kafka.connect.mirror.MirrorSourceConnector"


def mirror_config(source: str, target: str, topics: str, /, **more: str) -> dict[str, str]:
    """A mirror between two clusters, with ``more`` keys whose dots are written as underscores."""
    return {
        "source.cluster.alias": "src",
        "source.cluster.bootstrap.servers": source,
        "target.cluster.bootstrap.servers": target,
        "topics": topics,
        "refresh.topics.interval.seconds": "1",
        **{key.replace("_", "."): value for key, value in more.items()},
    }


class MirroredTopic(SourceUnderTest):
    """Numbers in partition 0, written in transactions: with their markers in between."""

    connector: ClassVar[type[SourceConnector]] = MirrorSourceConnector

    def __init__(self, topics: Topics, topic: str, **config: str) -> None:
        self.topics, self.topic, self._config = topics, topic, config
        # Records may have old timestamps, and a broker deletes those after a while.
        topics.create(topic, config={"retention.ms": "-1"})

    def config(self) -> Mapping[str, str]:
        servers = self.topics.bootstrap_servers
        return mirror_config(servers, servers, self.topic, **self._config)

    def write(self, numbers: Sequence[int]) -> None:
        self.topics.produce(self.topic, [str(number).encode() for number in numbers])

    def number(self, value: Any) -> int:
        return int(value)
